package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestClientFindsItsWay has the official client, which is told the address of MCP
// and nothing else, register at the issuer, send its person there, and come back
// with a token.
func TestClientFindsItsWay(t *testing.T) {
	t.Parallel()
	issuer := listen(t, exec.CommandContext(t.Context(), builtAs(t, "issuer"), "--addr", "127.0.0.1:0"))
	address := freeAddress(t)
	serveNotes(t, t.TempDir(), "--addr", address, "--public-url", "http://"+address, "--oauth-issuer", "http://"+issuer.addr)
	for person, want := range map[string][]string{"alice": editorTools, "bob": readerTools} {
		t.Run(person, func(t *testing.T) {
			t.Parallel()
			plain := client(t)
			plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
					Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "notes-test", RedirectURIs: []string{"http://127.0.0.1/callback"}},
				},
				Client: plain,
				AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
					return choosePerson(ctx, plain, args.URL, person)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			session := connect(t, &mcp.StreamableClientTransport{Endpoint: "http://" + address + "/mcp", HTTPClient: plain, OAuthHandler: handler}, nil)
			if diff := cmp.Diff(want, toolNames(t, session)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

// choosePerson does what a person does in the browser: follow the link of a name.
func choosePerson(ctx context.Context, client *http.Client, address, person string) (*auth.AuthorizationResult, error) {
	page, _, err := visit(ctx, client, address)
	if err != nil {
		return nil, err
	}
	link := regexp.MustCompile(`href="([^"]+)">` + person + `,`).FindStringSubmatch(page)
	if link == nil {
		return nil, fmt.Errorf("no link for %s on %s", person, page)
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	_, back, err := visit(ctx, client, base.Scheme+"://"+base.Host+html.UnescapeString(link[1]))
	if err != nil {
		return nil, err
	}
	q := back.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// visit returns a page and where it redirects to.
func visit(ctx context.Context, client *http.Client, address string) (page string, to *url.URL, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", nil, err
	}
	if to, err = url.Parse(response.Header.Get("Location")); err != nil || response.StatusCode >= http.StatusBadRequest {
		return "", nil, fmt.Errorf("%s: %s: %s", address, response.Status, strings.TrimSpace(string(text)))
	}
	return string(text), to, nil
}
