package approval

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/ambit-dev/ambit"
)

// formLife is how long the form of a page can be sent.
const formLife = 30 * time.Minute

// token returns the one-time token of the form that a person is shown. It holds
// the digest of the preview that they see, and is bound to the person, to the
// proposal and to how that stands: any decision about the proposal, the one made
// with it included, makes it void, and nothing has to be remembered.
func (p *Page) token(person *ambit.Principal, r *Record, seen ambit.Digest) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(p.now().Add(formLife).Unix()))
	plain = append(plain, seen[:]...)
	return base64.RawURLEncoding.EncodeToString(p.forms.Seal(nil, plain, formBound(person, r)))
}

// redeem returns the digest of the preview that the form showed.
func (p *Page) redeem(ctx context.Context, person *ambit.Principal, id, token string) (seen ambit.Digest, refused *ambit.Error) {
	r, err := p.approvals.find(ctx, p.app, person, id)
	if err != nil {
		return seen, ambit.ErrorFrom(p.approvals.failed(ctx, err), ambit.ErrorOptions{})
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return seen, staleForm()
	}
	plain, err := p.forms.Open(nil, sealed, formBound(person, &r))
	if err != nil || len(plain) != 8+len(seen) || int64(binary.BigEndian.Uint64(plain)) < p.now().Unix() {
		return seen, staleForm()
	}
	return ambit.Digest(plain[8:]), nil
}

// formBound is what a token belongs to. The preview that a proposal was asked with is
// none of it: what the person saw is in the token, and counts while it is so. Lengths stand before the texts, so that
// no two lists of texts are the same bytes.
func formBound(person *ambit.Principal, r *Record) []byte {
	var bound []byte
	for _, text := range [...]string{r.ID, string(r.Operation[:]), person.Key(), r.State.String()} {
		bound = binary.BigEndian.AppendUint32(bound, uint32(len(text)))
		bound = append(bound, text...)
	}
	bound = binary.BigEndian.AppendUint64(bound, uint64(r.DecideBy.UnixMicro()))
	for _, d := range r.Decisions {
		bound = binary.BigEndian.AppendUint64(bound, uint64(d.At.UnixMicro()))
	}
	return bound
}

func staleForm() *ambit.Error {
	return ambit.Errorf(ambit.CodeConflict, "The form was no longer valid: the proposal has changed since it was shown, or the form is old. Nothing was decided.").
		WithHint("Look at the proposal as it is now, and decide again.")
}
