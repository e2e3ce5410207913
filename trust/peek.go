package trust

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"github.com/ambit-dev/ambit"
)

// Peek returns what is at the front of a request's body, at most limit bytes and
// at most [MaxAnonymousBody], since whoever needs it before a credential has been
// accepted must not read more. The request's body is as it was before. It is for
// an [Authenticator] whose credential depends on the body; a body that is longer
// is CodeInputTooLarge.
func Peek(r *http.Request, limit int) ([]byte, *ambit.Error) {
	limit = min(limit, MaxAnonymousBody)
	switch {
	case r.ContentLength == 0 || r.Body == nil:
		return nil, nil
	case r.ContentLength > int64(limit):
		return nil, tooLarge(limit)
	}
	front, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	r.Body = &peeked{Reader: io.MultiReader(bytes.NewReader(front), r.Body), body: r.Body}
	switch {
	case err != nil:
		return nil, unreadable(r, err)
	case len(front) > limit:
		return nil, tooLarge(limit)
	}
	return slices.Clone(front), nil
}

// peeked is a body whose front is read once more.
type peeked struct {
	io.Reader
	body io.Closer
}

// Close closes the body.
func (p *peeked) Close() error { return p.body.Close() }
