package trust

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/ambit-dev/ambit"
)

// MaxAnonymousBody is the most bytes that are read of a body whose sender has
// shown no credential.
const MaxAnonymousBody = 64 << 10

// firstRead is how much room a body of unknown length gets at first.
const firstRead = 4 << 10

// ReadBody appends a request's body to dst and returns it: at most limit bytes,
// and at most [MaxAnonymousBody] of an anonymous sender. It must be called after
// [Guard.Admit]. A body that declares more is refused unread, one that turns
// out to have more is CodeInputTooLarge too; one that ends early or arrives too
// slowly is CodeInvalidInput, and CodeCanceled where the client has gone. The
// slice that comes with an error is dst, for its capacity.
func ReadBody(w http.ResponseWriter, r *http.Request, identity *Identity, dst []byte, limit int) ([]byte, *ambit.Error) {
	if identity.Anonymous() {
		limit = min(limit, MaxAnonymousBody)
	}
	switch {
	case r.ContentLength == 0 || r.Body == nil:
		return dst, nil
	case r.ContentLength > int64(limit):
		return dst, tooLarge(limit)
	case r.ContentLength > 0:
		return readKnown(r, dst, int(r.ContentLength))
	}
	return readUnknown(w, r, dst, limit)
}

// readKnown reads a body of a declared length, which net/http holds it to.
func readKnown(r *http.Request, dst []byte, length int) ([]byte, *ambit.Error) {
	start := len(dst)
	dst = slices.Grow(dst, length)[:start+length]
	if _, err := io.ReadFull(r.Body, dst[start:]); err != nil {
		return dst[:start], unreadable(r, err)
	}
	return dst, nil
}

// readUnknown reads a body of any length. Where it is too long, net/http is
// told to close the connection instead of reading on.
func readUnknown(w http.ResponseWriter, r *http.Request, dst []byte, limit int) ([]byte, *ambit.Error) {
	start := len(dst)
	body := http.MaxBytesReader(w, r.Body, int64(limit))
	for {
		dst = slices.Grow(dst, firstRead)
		n, err := body.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case err == io.EOF:
			return dst, nil
		case err == nil:
			continue
		}
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return dst[:start], tooLarge(limit)
		}
		return dst[:start], unreadable(r, err)
	}
}

func tooLarge(limit int) *ambit.Error {
	return ambit.Errorf(ambit.CodeInputTooLarge, "The body has more than the %s that are taken.", size(limit)).
		WithHint("Send less in one call.")
}

func size(bytes int) string {
	if bytes >= 1<<10 && bytes%(1<<10) == 0 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func unreadable(r *http.Request, err error) *ambit.Error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ambit.Errorf(ambit.CodeInvalidInput, "The body arrived too slowly.").WithHint("Send the body without pauses.")
	case !errors.Is(err, io.ErrUnexpectedEOF) && r.Context().Err() != nil:
		return ambit.ErrorFrom(r.Context().Err(), ambit.ErrorOptions{})
	}
	// The client may have closed its side only and still listen.
	return ambit.Errorf(ambit.CodeInvalidInput, "The body ended before it was complete.").WithHint("Send as many bytes as Content-Length says.")
}
