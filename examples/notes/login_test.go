package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestApprovalsPage has the editor ask for a publication over HTTP, and the two who
// may decide come to the page: the editor is refused, the owner approves.
func TestApprovalsPage(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	server := serveNotes(t, t.TempDir(), "--addr", address, "--public-url", "http://"+address)
	code := server.says(t, `approvals page=\S+ code=(\w+)`)
	asked := publish(t, server)
	page := found(t, asked, `"url":"http://[0-9.:]+(/approvals/\w+)"`)

	editor := browser{t: t, client: withJar(t), origin: "http://" + address}
	if status, text := editor.get(page); status != http.StatusOK || !strings.Contains(text, `name="code"`) {
		t.Fatalf("want the login, got %d\n%s", status, text)
	}
	if _, text := editor.post("/login?back="+page, url.Values{"name": {"editor"}, "code": {"WRONG"}}); !strings.Contains(text, "the code is another one") || !strings.Contains(text, `name="code" autocomplete="off" autofocus`) {
		t.Errorf("want a wrong code refused, and to type another, got\n%s", text)
	}
	if _, text := editor.post("/login?back="+page, url.Values{"name": {"nobody"}, "code": {code}}); !strings.Contains(text, "There is nobody") {
		t.Errorf("want an unknown name refused, got\n%s", text)
	}
	_, text := editor.post("/login?back="+page, url.Values{"name": {"editor"}, "code": {code}})
	if !strings.Contains(text, "lentil soup") {
		t.Fatalf("want the proposal with its preview, got\n%s", text)
	}
	token := regexp.MustCompile(`name="token" value="([^"]+)"`)
	match := token.FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("want a form for the editor, who may say no, got\n%s", text)
	}
	if status, text := editor.post(page, url.Values{"verdict": {"approve"}, "token": {match[1]}}); status != http.StatusForbidden || !strings.Contains(text, "another pair of eyes") {
		t.Errorf("want the requester refused, got %d\n%s", status, text)
	}

	if !strings.Contains(text, `action="/logout"`) {
		t.Errorf("want a way to log out, got\n%s", text)
	}
	if _, text := editor.post("/logout", nil); !strings.Contains(text, "Log in to Notes") {
		t.Errorf("want the login again, got\n%s", text)
	}
	if _, text := editor.get(page); !strings.Contains(text, "Log in to Notes") {
		t.Errorf("want nobody logged in, got\n%s", text)
	}

	owner := browser{t: t, client: withJar(t), origin: "http://" + address}
	_, text = owner.post("/login?back="+page, url.Values{"name": {"owner"}, "code": {strings.ToLower(code)}})
	if match = token.FindStringSubmatch(text); match == nil {
		t.Fatalf("want a form for the owner, got\n%s", text)
	}
	if status, text := owner.post(page, url.Values{"verdict": {"approve"}, "token": {match[1]}, "reason": {"It is a good soup."}}); status != http.StatusOK {
		t.Fatalf("want it approved, got %d\n%s", status, text)
	}
	if answer := publish(t, server); !strings.Contains(answer, `{"ok":true,"data":{"id":35,"version":1}}`) {
		t.Errorf("want it published, got %s", answer)
	}
}

// A server that is reached elsewhere than its page would be says so, and how to have
// the page.
func TestApprovalsPageElsewhere(t *testing.T) {
	t.Parallel()
	server := serveNotes(t, t.TempDir())
	if want, got := "http://"+server.addr, server.says(t, `approvals page=none, .* add --public-url (\S+)\n`); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
}

// publish asks for a publication as the editor.
func publish(t *testing.T, server *serving) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+server.addr+"/api/notes/publish", strings.NewReader(`{"id":35}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+server.keys["editor"])
	request.Header.Set("Content-Type", "application/json")
	_, text := read(t, client(t), request)
	return text
}

// browser keeps cookies and follows links, as a person's does.
type browser struct {
	t      *testing.T
	client *http.Client
	origin string
}

func withJar(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := client(t)
	c.Jar = jar
	return c
}

func (b browser) get(path string) (int, string) { return b.do(http.MethodGet, path, nil) }

func (b browser) post(path string, form url.Values) (int, string) {
	return b.do(http.MethodPost, path, strings.NewReader(form.Encode()))
}

func (b browser) do(method, path string, body io.Reader) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.origin+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", b.origin)
	}
	return read(b.t, b.client, request)
}

// read sends a request and returns status and body of the answer.
func read(t *testing.T, client *http.Client, request *http.Request) (int, string) {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestLocalPath holds that a login leads to the approvals page and nowhere else.
func TestLocalPath(t *testing.T) {
	t.Parallel()
	for back, want := range map[string]string{
		"/approvals": "/approvals", "/approvals/ABC": "/approvals/ABC",
		"": "/approvals", "//example.com": "/approvals", "https://example.com": "/approvals", "/approvalsx": "/approvals", `/\example.com`: "/approvals",
	} {
		if got := localPath(back); want != got {
			t.Errorf("%q: want %q, got %q", back, want, got)
		}
	}
}
