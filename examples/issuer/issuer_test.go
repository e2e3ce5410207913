package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// start serves an issuer and returns its address.
func start(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	issuer, err := newIssuer("http://" + server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = issuer
	server.Start()
	t.Cleanup(server.Close)
	return issuer.url
}

// post sends a form and returns status and answer.
func post(t *testing.T, address string, form url.Values) (int, string) {
	t.Helper()
	response, err := http.PostForm(address, form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestTokenRefuses(t *testing.T) {
	t.Parallel()
	address := start(t)
	tests := []struct {
		name, want string
		form       url.Values
	}{
		{"another grant", "unsupported_grant_type", url.Values{"grant_type": {"password"}}},
		{"a stranger", "invalid_client", url.Values{"grant_type": {"client_credentials"}, "client_id": {"mallory"}, "resource": {"http://x"}}},
		{"a person as a program", "invalid_client", url.Values{"grant_type": {"client_credentials"}, "client_id": {"alice"}, "resource": {"http://x"}}},
		{"no resource", "invalid_target", url.Values{"grant_type": {"client_credentials"}, "client_id": {"importer"}}},
		{"no code", "invalid_grant", url.Values{"grant_type": {"authorization_code"}}},
	}
	for _, tt := range tests {
		if status, body := post(t, address+"/token", tt.form); status != http.StatusBadRequest || !strings.Contains(body, tt.want) {
			t.Errorf("%s: want 400 and %s, got %d %s", tt.name, tt.want, status, body)
		}
	}
}

// TestCodeIsRedeemedOnce holds that a code is for who asked for it, and once.
func TestCodeIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	address := start(t)
	response, err := http.Post(address+"/register", "application/json", strings.NewReader(`{"redirect_uris":["http://127.0.0.1/back"]}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("register: %s %v: %s", response.Status, err, body)
	}
	_, id, _ := strings.Cut(string(body), `"client_id":"`)
	id, _, _ = strings.Cut(id, `"`)

	// The challenge of RFC 7636, appendix B.
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	code := func(change func(url.Values)) (int, string) {
		q := url.Values{
			"response_type": {"code"}, "client_id": {id}, "redirect_uri": {"http://127.0.0.1/back"}, "resource": {"http://x"},
			"code_challenge": {challenge}, "code_challenge_method": {"S256"}, "login_hint": {"alice"},
		}
		change(q)
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		response, err := client.Get(address + "/authorize?" + q.Encode())
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		to, err := url.Parse(response.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, to.Query().Get("code")
	}
	for name, change := range map[string]func(url.Values){
		"another address": func(q url.Values) { q.Set("redirect_uri", "http://127.0.0.1/elsewhere") },
		"another client":  func(q url.Values) { q.Set("client_id", "x") },
		"no challenge":    func(q url.Values) { q.Del("code_challenge") },
	} {
		if status, _ := code(change); status != http.StatusBadRequest {
			t.Errorf("%s: want 400, got %d", name, status)
		}
	}
	redeem := func(code, verifier string) (int, string) {
		return post(t, address+"/token", url.Values{
			"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "client_id": {id}, "redirect_uri": {"http://127.0.0.1/back"},
		})
	}
	_, stolen := code(func(url.Values) {})
	if status, body := redeem(stolen, "another verifier"); status != http.StatusBadRequest {
		t.Errorf("a wrong verifier: want 400, got %d %s", status, body)
	}
	_, good := code(func(url.Values) {})
	if status, body := redeem(good, verifier); status != http.StatusOK {
		t.Errorf("want a token, got %d %s", status, body)
	}
	if status, body := redeem(good, verifier); status != http.StatusBadRequest {
		t.Errorf("a second time: want 400, got %d %s", status, body)
	}
}

// TestHost holds that a name which somebody else has pointed here gets nothing.
func TestHost(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, start(t)+"/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "rebound.example.com"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("want 421, got %s", response.Status)
	}
}

// TestAddress holds that it listens on this machine alone.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:9000", "example.com:9000"} {
		if err := run(t.Context(), address, io.Discard); err == nil || !strings.Contains(err.Error(), "this machine alone") {
			t.Errorf("%s: want a refusal, got %v", address, err)
		}
	}
}
