package oauth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/oauth"
)

// An application that takes the tokens of one issuer at both of its endpoints, and what
// a client that has none is told.
func Example() {
	const public = "https://notes.example.com"
	tokens, err := oauth.New(oauth.Options{
		Resources: []oauth.Resource{
			{URL: public + "/mcp", Audiences: []string{public + "/mcp"}, Scopes: []string{"notes"}},
			{URL: public + "/api", Audiences: []string{public + "/api"}},
		},
		Issuers: []oauth.Issuer{{URL: "https://login.example.com"}},
		Principal: func(_ context.Context, c *oauth.Claims) (*ambit.Principal, error) {
			p := c.Principal()
			p.Permissions = []string{"notes:read"} // what a token is worth is the application's to say
			return p, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tokens.Close()
	app := ambit.New(ambit.Options{Name: "notes", Version: "1.0.0"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "notes.count", Description: "Count the notes.", Effect: ambit.Read, Permission: "notes:read", Expose: ambit.HTTP | ambit.MCP,
	}, func(context.Context, ambit.Empty) (int, error) { return 3, nil }))
	handler, err := serve.Handler(app, serve.Options{
		Trust: trust.Options{Authenticators: []trust.Authenticator{tokens}, PublicURL: public},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, public+"/mcp", nil))
	fmt.Println(answer.Code, answer.Header().Get("WWW-Authenticate"))

	answer = httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, public+"/.well-known/oauth-protected-resource/api", nil))
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Code, string(body)[:97])
	// Output:
	// 401 Bearer scope="notes", resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp"
	// 200 {"resource":"https://notes.example.com/api","authorization_servers":["https://login.example.com"]
}
