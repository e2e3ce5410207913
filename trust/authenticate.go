package trust

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/ambit-dev/ambit"
)

// authenticate asks every authenticator, in order. All of them are asked even
// when one has answered, so that two credentials for two callers are noticed.
func (g *Guard) authenticate(r *http.Request) (*Identity, *ambit.Error) {
	credentials := r.Header["Authorization"]
	marked := g.addresses.proxies.mark(r)
	defer func() { r.Body = marked.Body }() // which Peek may have replaced
	var found *Identity
	ambient := true // nobody has vouched for the Authorization header yet
	for _, a := range g.authenticators {
		identity, err := ask(a, marked)
		switch {
		case err != nil:
			return nil, g.invalid(r, a.Name(), err)
		case identity == nil:
			continue
		case found != nil && !agree(found.Principal, identity.Principal):
			return nil, g.invalid(r, a.Name(), errors.New("another authenticator found another principal"))
		case found == nil:
			found = identity
		}
		ambient = ambient && identity.Ambient
	}
	switch {
	case len(credentials) > 1: // of which some authenticators have more to say
		return nil, g.invalid(r, "", errors.New("more than one Authorization header"))
	case len(credentials) == 1 && ambient:
		return nil, g.invalid(r, "", errors.New("no authenticator knows the credential of the Authorization header"))
	case found == nil:
		return g.anonymous, nil
	}
	return found, nil
}

// agree reports whether two credentials are of one caller and reach equally far.
// If they do not, which of the two holds would depend on the order of the
// authenticators.
func agree(p, q *ambit.Principal) bool {
	return p.Key() == q.Key() && p.Kind == q.Kind && p.Client == q.Client && p.Unscoped == q.Unscoped &&
		slices.Equal(slices.Compact(slices.Sorted(slices.Values(p.Scopes))), slices.Compact(slices.Sorted(slices.Values(q.Scopes))))
}

// ask calls one authenticator, contains its panic and checks what it returned.
func ask(a Authenticator, r *http.Request) (identity *Identity, err error) {
	defer func() {
		if v := recover(); v != nil {
			identity, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	identity, err = a.Authenticate(r)
	if err != nil || identity == nil {
		return nil, err
	}
	switch p := identity.Principal; {
	case p == nil:
		return nil, errors.New("the identity has no principal")
	case p.Anonymous():
		return nil, errors.New("the identity's principal is anonymous: return nil for a request without a credential")
	case p.Kind > ambit.KindAnonymous:
		return nil, errors.New("the identity's principal has a kind that does not exist")
	case p.Subject == "" || p.Authority == "":
		return nil, errors.New("the identity's principal has no subject or no authority")
	}
	return identity, nil
}

// invalid is the answer for a credential that is there and does not hold. Why it
// does not is for the operator alone.
func (g *Guard) invalid(r *http.Request, authenticator string, err error) *ambit.Error {
	if e, ok := errors.AsType[*ambit.Error](err); ok && e != nil && answers(e.Code) {
		g.app.Logger().InfoContext(r.Context(), "request refused by an authenticator", slog.String("authenticator", authenticator), g.from(r), slog.Any("cause", err))
		return g.complete(e)
	}
	g.app.Logger().InfoContext(r.Context(), "credential refused", slog.String("authenticator", authenticator), g.from(r), slog.Any("cause", err))
	return g.complete(&ambit.Error{Code: ambit.CodeUnauthenticated, Message: "The credential is not valid.", Hint: g.hint})
}

// answers reports whether an authenticator's error is the answer itself: it cannot
// tell at the moment, the request breaks the rules of its credential, or the
// credential lacks the scopes that the whole endpoint needs.
func answers(c ambit.Code) bool {
	return c == ambit.CodeUnavailable || c == ambit.CodeInvalidInput || c == ambit.CodeInsufficientScope
}
