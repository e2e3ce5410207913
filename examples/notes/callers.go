package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/oauth"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// permissions are what callers may do, by their role.
func permissions(role string) []string {
	may := []string{"notes:read"}
	if role == "editor" || role == "owner" {
		may = append(may, "notes:write", "notes:purge", "notes:publish", "approvals:decide")
	}
	if role == "owner" {
		may = append(may, "audit:read")
	}
	return may
}

// firstKeys makes a key for each role where there are no keys at all, and shows
// them: what is kept of a key is its hash.
func firstKeys(ctx context.Context, keys apikey.Store, notices io.Writer) error {
	if any, err := keys.List(ctx, "", 1); err != nil || len(any) > 0 {
		return err
	}
	shown := "New keys, shown this one time:\n"
	for _, name := range []string{"editor", "owner", "reader"} {
		secret := apikey.Generate()
		err := keys.Add(ctx, apikey.Record{
			Name: name, Hash: apikey.Hash(secret), Permissions: permissions(name), Created: time.Now().UTC().Truncate(time.Second),
		})
		switch {
		case errors.Is(err, apikey.ErrExists): // another process that has just started shows this one
		case err != nil:
			return err
		default:
			shown += fmt.Sprintf("  %-8s %s\n", name, secret)
		}
	}
	_, err := io.WriteString(notices, shown)
	return err
}

// newTokens takes access tokens of the issuer, for the API and for MCP.
func newTokens(f flags, replays oauth.Replays) (*oauth.Authenticator, error) {
	resource := func(path string) oauth.Resource {
		url := f.url() + path
		return oauth.Resource{
			URL: url, Audiences: []string{cmp.Or(f.audience, url)},
			MoreScopes: []string{"notes:read", "notes:write"}, Name: "Notes",
		}
	}
	return oauth.New(oauth.Options{
		Resources: []oauth.Resource{resource("/api"), resource("/mcp")},
		Issuers:   []oauth.Issuer{{URL: f.issuer}},
		Principal: tokenCaller,
		Replays:   replays,
		Loopback:  strings.HasPrefix(f.issuer, "http://"), // for development: such an issuer is on this machine
	})
}

// tokenCaller says who a token stands for. The issuer knows who has which role; what
// a role may do is known here.
func tokenCaller(_ context.Context, claims *oauth.Claims) (*ambit.Principal, error) {
	p := claims.Principal()
	role := "reader"
	if slices.Contains(p.Roles, "editor") {
		role = "editor"
	}
	p.Permissions = permissions(role)
	return p, nil
}

// newAgents knows the agents of a file by their signatures.
func newAgents(f flags, nonces webbotauth.Nonces) (*webbotauth.Verifier, error) {
	agents, err := webbotauth.LoadAgents(f.agents)
	if err != nil {
		return nil, err
	}
	return webbotauth.New(webbotauth.Options{Agents: agents, PublicURL: f.publicURL, Nonces: nonces})
}
