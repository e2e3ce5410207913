package apikey

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit"
)

// KeyClaim is the claim of a principal that has the name of its key, see
// [ambit.Principal.Claims].
const KeyClaim = "apikey"

// Resolve returns a principal as its key stands for it now, nil where the key is
// not valid any more: it is what ambit.Options.Resolve wants, so that long runs,
// sessions over standard streams too, end with a key that is revoked. Principals
// that no key has made are returned as they are. The error is CodeUnavailable,
// where the store does not answer.
func (a *Authenticator) Resolve(ctx context.Context, p *ambit.Principal) (*ambit.Principal, error) {
	name, ok := p.Claims[KeyClaim].(string)
	if !ok || p.Authority != Authority {
		return p, nil
	}
	e, err := a.named(ctx, name)
	if err != nil {
		return nil, err
	}
	if e.refusal(time.Now()) != nil || e.identity.Principal.Key() != p.Key() {
		return nil, nil
	}
	return clone(e.identity.Principal), nil
}

// named returns the entry of the key with a name, nil where there is none.
func (a *Authenticator) named(ctx context.Context, name string) (*entry, error) {
	if a.stored == nil {
		return a.byName[name], nil
	}
	return a.stored.named(ctx, name)
}
