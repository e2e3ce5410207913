package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

const (
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeAccess    = "urn:ietf:params:oauth:token-type:access_token"
)

// Token is a credential for a call elsewhere. It prints as its type, so that it
// does not get into logs by accident.
type Token struct {
	// Value is what is sent: Authorization: Bearer VALUE.
	Value string
	// Scopes are what it is for. Nil: those that were asked for.
	Scopes []string
	// Expires is when it ends. Zero: the issuer does not say.
	Expires time.Time
}

// LogValue hides the value.
func (t Token) LogValue() slog.Value { return slog.StringValue("oauth.Token") }

// String hides the value.
func (t Token) String() string { return "oauth.Token" }

// GoString hides the value.
func (t Token) GoString() string { return "oauth.Token" }

// Exchange obtains a token for a call that a handler makes elsewhere, by the token
// that its request came with (RFC 8693): for an audience, and for scopes, which the
// issuer judges. It works within a call of a request that package oauth has
// authenticated, for the principal of that request and while it lasts; a second call
// for the same gets the token of the first. The issuer needs [Issuer.Client].
//
// The token that came in is not given out, and an issuer that answers with it is an
// error. The error is an [*ambit.Error] that a handler can return: CodeForbidden
// where there is no token to exchange, CodeUpstream where the issuer refuses or
// cannot be reached. Its cause is in the log.
func Exchange(ctx context.Context, audience string, scopes ...string) (Token, error) {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	call := ambit.FromContext(ctx)
	switch {
	case x == nil || call == nil:
		return Token{}, refuseExchange("oauth.Exchange outside a call of a request with an access token")
	case call.Principal().Key() != x.principal:
		return Token{}, refuseExchange("oauth.Exchange for another principal than the request's")
	case audience == "":
		return Token{}, refuseExchange("oauth.Exchange without an audience")
	case scopesFault(scopes) != "":
		return Token{}, refuseExchange("oauth.Exchange: " + scopesFault(scopes))
	}
	token, err := x.token(ctx, audience, slices.Sorted(slices.Values(scopes)))
	if err != nil {
		x.auth.logger.WarnContext(ctx, "token exchange failed", slog.String("issuer", x.issuer.URL), slog.String("audience", audience), slog.Any("cause", err))
	}
	return token, err
}

func refuseExchange(cause string) error {
	return fmt.Errorf("%w (%s)", ambit.Errorf(ambit.CodeForbidden, "There is no credential for a call elsewhere."), cause)
}

type exchangeKey struct{}

// exchange is what a request's context has. It holds the request and no token.
type exchange struct {
	auth      *Authenticator
	issuer    *issuer
	r         *http.Request
	principal string // the key of who sent it

	mu  sync.Mutex // held while a token is obtained
	got map[wanted]Token
}

// wanted is what a token is obtained for. Scopes hold no spaces.
type wanted struct{ audience, scopes string }

// AddContext implements [trust.ContextAdder].
func (a *Authenticator) AddContext(ctx context.Context, r *http.Request, identity *trust.Identity) context.Context {
	s := a.issuers[identity.Principal.Authority]
	if s == nil || s.Client.ID == "" || !a.sent(r) {
		return ctx
	}
	return context.WithValue(ctx, exchangeKey{}, &exchange{auth: a, issuer: s, r: r, principal: identity.Principal.Key()})
}

// sent reports whether a request came with a token.
func (a *Authenticator) sent(r *http.Request) bool {
	c, refused := credentialOf(r)
	return refused == nil && c.token != ""
}

// token obtains a token, or finds one that was.
func (x *exchange) token(ctx context.Context, audience string, scopes []string) (Token, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.r.Context().Err() != nil {
		return Token{}, refuseExchange("the request has ended")
	}
	what := wanted{audience, strings.Join(scopes, " ")}
	if t, ok := x.got[what]; ok && (t.Expires.IsZero() || time.Now().Before(t.Expires)) {
		return t, nil
	}
	t, err := x.obtain(ctx, audience, scopes)
	if err != nil {
		return Token{}, err
	}
	if x.got == nil {
		x.got = map[wanted]Token{}
	}
	x.got[what] = t
	return t, nil
}

// obtain asks the issuer (RFC 8693, section 2).
func (x *exchange) obtain(ctx context.Context, audience string, scopes []string) (Token, error) {
	c, refused := credentialOf(x.r)
	if refused != nil || c.token == "" {
		return Token{}, refuseExchange("the request has no token any more")
	}
	address := x.issuer.TokenURL
	if address == "" {
		found, err := x.issuer.discovery.find(ctx)
		if err != nil {
			return Token{}, failExchange(err)
		}
		if address = found.token; address == "" {
			return Token{}, failExchange(errors.New("the metadata names no token endpoint: set Issuer.TokenURL"))
		}
	}
	form := url.Values{
		"grant_type": {grantExchange}, "requested_token_type": {typeAccess},
		"subject_token": {c.token}, "subject_token_type": {typeAccess}, "audience": {audience},
	}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	asked := time.Now()
	body, err := x.auth.post(ctx, address, x.issuer.Client, form)
	if err != nil {
		return Token{}, failExchange(err)
	}
	answer, err := object(body)
	if err != nil {
		return Token{}, failExchange(err)
	}
	return readToken(answer, c.token, asked)
}

// readToken reads the issuer's answer (RFC 8693, section 2.2.1).
func readToken(answer map[string]any, incoming string, asked time.Time) (Token, error) {
	t := Token{Value: text(answer, "access_token")}
	switch {
	case t.Value == "":
		return Token{}, failExchange(errors.New("the answer has no token"))
	case t.Value == incoming:
		return Token{}, failExchange(errors.New("the issuer answered with the token that came in"))
	case !strings.EqualFold(text(answer, "token_type"), "Bearer"):
		return Token{}, failExchange(fmt.Errorf("the token is of type %q and no bearer token", text(answer, "token_type")))
	}
	if seconds, ok := answer["expires_in"].(float64); ok && seconds >= 0 && seconds < 1<<31 {
		t.Expires = asked.Add(time.Duration(seconds) * time.Second)
	}
	if scope := text(answer, "scope"); scope != "" {
		t.Scopes = strings.Fields(scope)
	}
	return t, nil
}

func failExchange(cause error) error {
	return fmt.Errorf("%w (%w)", ambit.Errorf(ambit.CodeUpstream, "A credential for a call elsewhere could not be obtained."), cause)
}
