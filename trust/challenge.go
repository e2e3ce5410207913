package trust

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// Challenger is what an [Authenticator] implements that writes its challenges
// itself, because they depend on why a request is refused: those of OAuth say
// which scopes are missing, say. It is asked instead of Challenge.
type Challenger interface {
	// ChallengeFor adds to an answer's header what the sender needs to know
	// about a refusal that is CodeUnauthenticated, CodeAgentRequired,
	// CodeInsufficientScope, or CodeInvalidInput where an authenticator, this one
	// or another, has returned that as its error. It must depend on nothing that only some senders may know.
	ChallengeFor(header http.Header, r *http.Request, refused *ambit.Error)
}

// challenged reports whether a refusal says which credential would do.
func challenged(c ambit.Code) bool {
	return c == ambit.CodeUnauthenticated || c == ambit.CodeAgentRequired || c == ambit.CodeInsufficientScope
}

// Challenge adds to an answer's header what would have to be shown: the
// WWW-Authenticate values of the authenticators (RFC 9110, section 11.6.1), one
// for each scheme, and Accept-Signature where an agent is required (RFC 9421,
// section 5.1). It counts a request that Admit let in without a credential among the
// refusals of its address. A surface calls it once for each
// answer that is a refusal, whatever its code is, and sends the status that it
// returns: where an agent is required and a token would do too, that is 401.
func (g *Guard) Challenge(header http.Header, r *http.Request, i *Identity, refused *ambit.Error) (status int) {
	status = refused.Code.HTTPStatus()
	own := i == nil && refused.Code == ambit.CodeInvalidInput // an authenticator's, perhaps
	if !challenged(refused.Code) && !own {
		return status
	}
	if i != nil && i.Anonymous() { // Admit has counted what it refused itself
		from := g.addresses.of(r, false)
		if g.addresses.take(from, time.Now()) == 0 {
			g.refused(r, from)
		}
	}
	defer expose(header)
	if refused.Code == ambit.CodeAgentRequired {
		if accept := g.acceptSignature(r, refused.AgentLevel()); accept != "" {
			header["Accept-Signature"] = []string{accept}
		}
		if !i.Anonymous() || !g.Authenticates() {
			return status
		}
		status = http.StatusUnauthorized
	}
	if unquotable := func(scope string) bool { return !quotable(scope) }; slices.ContainsFunc(refused.Scopes, unquotable) {
		own := *refused
		own.Scopes = slices.DeleteFunc(slices.Clone(refused.Scopes), unquotable)
		refused = &own
	}
	for _, a := range g.authenticators {
		g.challenge(a, header, r, refused)
	}
	if challenges := oneOfEach(header["Www-Authenticate"]); len(challenges) > 0 {
		header["Www-Authenticate"] = challenges
	} else if refused.Code == ambit.CodeInsufficientScope {
		header["Www-Authenticate"] = []string{`Bearer error="insufficient_scope", scope="` + strings.Join(refused.Scopes, " ") + `"`}
	}
	return status
}

// quotable reports whether a text is a scope (RFC 6749, section 3.3), so that it can
// stand in a challenge. What an application's error names is not known to be one.
func quotable(scope string) bool {
	return scope != "" && !strings.ContainsFunc(scope, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' })
}

// challenge lets one authenticator challenge and contains its panic.
func (g *Guard) challenge(a Authenticator, header http.Header, r *http.Request, refused *ambit.Error) {
	defer func() {
		if v := recover(); v != nil {
			g.app.Logger().ErrorContext(r.Context(), "challenge panicked", slog.String("authenticator", a.Name()), slog.Any("panic", v))
		}
	}()
	if c, ok := a.(Challenger); ok {
		c.ChallengeFor(header, r, refused)
		return
	}
	if refused.Code != ambit.CodeUnauthenticated && refused.Code != ambit.CodeAgentRequired {
		return
	}
	if challenge := a.Challenge(r); challenge != "" {
		header["Www-Authenticate"] = append(header["Www-Authenticate"], challenge)
	}
}

// acceptSignature asks the verifier, if there is one, and contains its panic.
func (g *Guard) acceptSignature(r *http.Request, level ambit.AgentLevel) (accept string) {
	if g.agents == nil {
		return ""
	}
	defer func() {
		if v := recover(); v != nil {
			accept = ""
			g.app.Logger().ErrorContext(r.Context(), "the verifier of agents panicked", slog.Any("panic", v))
		}
	}()
	return g.agents.AcceptSignature(asSent(r), level)
}

// oneOfEach keeps one challenge of each scheme, since clients heed the first one
// only: one that says more than its realm before one that does not, and the
// first of those.
func oneOfEach(challenges []string) []string {
	kept := challenges[:0]
	for _, c := range challenges {
		i := 0
		for i < len(kept) && !strings.EqualFold(scheme(kept[i]), scheme(c)) {
			i++
		}
		switch {
		case i == len(kept):
			kept = append(kept, c)
		case plain(kept[i]) && !plain(c):
			kept[i] = c
		}
	}
	return kept
}

func scheme(challenge string) string {
	name, _, _ := strings.Cut(challenge, " ")
	return name
}

// plain reports whether a challenge says nothing but its scheme and its realm.
func plain(challenge string) bool {
	_, parameters, _ := strings.Cut(challenge, " ")
	return parameters == "" || strings.HasPrefix(parameters, "realm=") && !strings.Contains(parameters, ",")
}

// expose lets scripts of pages that may call at all read what was asked for.
func expose(header http.Header) {
	var names []string
	for _, name := range [...]string{"WWW-Authenticate", "Accept-Signature"} {
		if header.Get(name) != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		header["Access-Control-Expose-Headers"] = []string{strings.Join(names, ", ")}
	}
}
