package approval_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Whoever has stolen the credentials of somebody who may decide, down to a key
// for every surface, finds nothing there that decides.
func TestT12_CredentialsOfADeciderChangeNothing(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	form := s.form(bob, id, approval.Approve)
	form.Set("id", id)

	secret := apikey.Generate()
	s.person("bob", func(p *ambit.Principal) { p.Authority = apikey.Authority })
	keys, err := apikey.New(apikey.Key{Name: "bob", Hash: apikey.Hash(secret), Principal: &ambit.Principal{Permissions: bob.Permissions}})
	s.must(err)
	handler, err := serve.Handler(s.app, serve.Options{
		Trust: trust.Options{Authenticators: []trust.Authenticator{keys}, PublicURL: "https://notes.example.com"}, Wrap: s.page.Wrap,
	})
	s.must(err)
	server := httptest.NewServer(handler)
	defer server.Close()
	send := func(method, path, kind, body string) (status int, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		s.must(err)
		r.Host = "notes.example.com"
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Accept", "application/json, text/event-stream")
		response, err := server.Client().Do(r)
		s.must(err)
		defer func() { _ = response.Body.Close() }()
		answer, err := io.ReadAll(response.Body)
		s.must(err)
		return response.StatusCode, string(answer)
	}

	if status, text := send(http.MethodPost, "/api/notes/purge", "application/json", `{"folder":"other"}`); status != http.StatusConflict || !strings.Contains(text, "approval_pending") {
		t.Fatalf("the key: want it to work, got %d %s", status, text)
	}
	input := fmt.Sprintf(`{"id":%q,"verdict":"approve","capability":"notes.purge","principal":%q,"input":{},"budget":1}`, id, s.person("alice").Key())
	for _, verb := range []string{"approve", "decide", "deny", "revoke", "settle", "list", "get", "show", "give", "grant"} {
		for _, path := range []string{"/api/approvals/" + verb, "/api/approval/" + verb, "/api/ambit/approvals/" + verb, "/api/grants/" + verb, "/api/grant/" + verb} {
			if status, _ := send(http.MethodPost, path, "application/json", input); status != http.StatusNotFound {
				t.Errorf("%s: want 404, got %d", path, status)
			}
		}
		for _, of := range []string{"approvals", "grants"} {
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s_%s","arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, of, verb, input)
			if status, text := send(http.MethodPost, "/mcp", "application/json", call); status < 400 && !strings.Contains(text, "-32602") {
				t.Errorf("MCP tool %s_%s: want an unknown tool, got %d %s", of, verb, status, text)
			}
		}
	}
	if status, _ := send(http.MethodPost, "/approvals/grants", "application/x-www-form-urlencoded", form.Encode()); status != http.StatusNotFound {
		t.Errorf("granting on the page: want 404, got %d", status)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if status, _ := send(method, "/approvals/"+id, "application/x-www-form-urlencoded", form.Encode()); status != http.StatusNotFound {
			t.Errorf("%s the page: want 404, got %d", method, status)
		}
	}
	for surface := ambit.HTTP; surface <= ambit.CommandLine; surface <<= 1 {
		ctx, run := s.app.NewRun(t.Context(), ambit.RunOptions{Principal: bob, Surface: surface})
		for _, name := range []string{"approvals.decide", "approvals_decide", "approvals.approve", "grants.give", "grants_give", "grants.revoke"} {
			if _, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(input)}); codeOf(err) != ambit.CodeNotFound {
				t.Errorf("%s over %s: want %s, got %v", name, surface, ambit.CodeNotFound, err)
			}
		}
		if _, err := s.approvals.Decide(ctx, s.app, bob, approval.Ruling{ID: id, Verdict: approval.Deny}); codeOf(err) != ambit.CodeNotFound {
			t.Errorf("in a run of %s: want %s, got %v", surface, ambit.CodeNotFound, err)
		}
		run.End()
	}
	if list, _, err := s.store.Grants(t.Context(), approval.GrantFilter{}); err != nil || len(list) != 0 {
		t.Errorf("want no grant, got %d, %v", len(list), err)
	}
	if got := s.state(id); got != "pending" {
		t.Errorf("want pending, got %s", got)
	}
}
