package approval_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

func TestPageWhoseLoginFails(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	page, err := approval.NewPage(n.app, n.approvals, approval.PageOptions{
		Login: func(*http.Request) (*ambit.Principal, time.Time, error) {
			return nil, time.Time{}, errors.New("CANARY down")
		},
		SignIn: signIn,
	})
	n.must(err)
	s := &website{notes: n, page: page}
	answer := s.send(http.MethodGet, "/approvals/", "")
	if text := s.text(answer); answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(text, "CANARY") {
		t.Errorf("want 503 without the cause, got %d:\n%s", answer.StatusCode, text)
	}
}

func TestPageWrap(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	handler := s.page.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "next "+r.URL.Path) }))
	for path, want := range map[string]bool{"/approvals": true, "/approvals/": true, "/approvals/x": true, "/": false, "/approvalsx": false, "/api/notes": false} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://notes.example.com"+path, nil))
		if got := w.Body.String() != "next "+path; want != got {
			t.Errorf("%s: want it to be the page's %v, got %v", path, want, got)
		}
	}
}

// With an origin of its own the page has its host to itself, from the root on, and
// nothing of another host.
func TestT12_PageHasItsOwnOrigin(t *testing.T) {
	t.Parallel()
	s := &website{notes: newNotes(t, approval.Options{URL: "https://approvals.example.com/"})}
	page, err := approval.NewPage(s.app, s.approvals, approval.PageOptions{Login: s.login, SignIn: signIn, OwnOrigin: true})
	s.must(err)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	handler := page.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for _, test := range []struct {
		host, path string
		want       int
	}{
		{"approvals.example.com", "/", 200},
		{"approvals.example.com", "/" + id, 200},
		{"Approvals.example.com:443", "/" + id, 200},
		{"approvals.example.com", "/api/notes/purge", 404},
		{"approvals.example.com", "//elsewhere.example/", 404},
		{"notes.example.com", "/" + id, 418},
		{"notes.example.com", "/", 418},
		{"approvals.example.com:8443", "/", 418},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+test.host+test.path, nil)
		session(bob, "1m")(r)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s%s: want %d, got %d", test.host, test.path, test.want, w.Code)
		}
	}
}

// The page is at one host, which the log says where somebody comes to another.
func TestT28_PageIsAtOneHost(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := &website{notes: newNotes(t, approval.Options{URL: "http://127.0.0.1:8080/approvals", Logger: logTo(&log)})}
	s.open()
	for name, want := range map[string]int{"127.0.0.1:8080": http.StatusOK, "localhost:8080": http.StatusForbidden} {
		if answer := s.send(http.MethodGet, "/approvals", "", session(s.person("bob"), "1m"), host(name)); answer.StatusCode != want {
			t.Errorf("%s: want %d, got %d", name, want, answer.StatusCode)
		}
	}
	if want := `its Host is none that is answered to" host=localhost:8080 answers=[127.0.0.1] cure="use one of these, or add it to trust.Options.Hosts; the approvals page is at the host of approval.Options.URL alone"`; !strings.Contains(log.String(), want) {
		t.Errorf("want a line with %s, got:\n%s", want, log.String())
	}
}

// The page shows what waits with the application's own approver, or is not made.
func TestNewPageOfOtherApprovals(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	others, err := approval.New(n.store, approval.Options{URL: pageURL, Logger: slog.New(slog.DiscardHandler)})
	n.must(err)
	const want = "approval: NewPage is given other approvals than Options.Approver of the application: give it those, so that it shows what the application's calls wait for"
	for _, test := range []struct {
		approvals *approval.Approvals
		want      string
	}{{n.approvals, ""}, {others, want}} {
		page, err := approval.NewPage(n.app, test.approvals, approval.PageOptions{Login: (&website{}).login, SignIn: signIn})
		if (page == nil) != (test.want != "") || test.want != "" && err.Error() != test.want {
			t.Errorf("want %q, got %v", test.want, err)
		}
	}
}

// FuzzPageForm shows that no body is a decision that was not made on the page.
func FuzzPageForm(f *testing.F) {
	for _, seed := range []string{"", "verdict=approve", "verdict=approve&token=AAAA", "verdict=deny&token=%00&token=x&reason=%0a", "%zz", "verdict=settle-succeeded&token=" + strings.Repeat("A", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s := newWebsite(t)
		bob := s.person("bob")
		id := s.ask(s.person("alice"), "notes.purge", "old")
		answer := s.send(http.MethodPost, "/approvals/"+id, body, session(bob, "1m"))
		if answer.StatusCode < 400 || answer.StatusCode >= 500 || s.state(id) != "pending" {
			t.Errorf("%q: want it refused, got %d and %s", body, answer.StatusCode, s.state(id))
		}
	})
}

func TestNewPage(t *testing.T) {
	t.Parallel()
	full := approval.PageOptions{Login: (&website{}).login, SignIn: signIn}
	quiet := slog.New(slog.DiscardHandler)
	for _, test := range []struct {
		name   string
		keys   bool
		webmcp bool
		url    string
		o      approval.PageOptions
		want   string // part of the error; "" for none
	}{
		{"all", true, false, pageURL, full, ""},
		{"no keys", false, false, pageURL, full, "Options.Keys"},
		{"no address", true, false, "", full, "Options.URL"},
		{"no login", true, false, pageURL, approval.PageOptions{SignIn: signIn}, "PageOptions.Login"},
		{"no way to log in", true, false, pageURL, approval.PageOptions{Login: full.Login}, "PageOptions.SignIn"},
		{"page tools beside it", true, true, pageURL, full, `"notes.read" is exposed on WebMCP`},
		{"page tools elsewhere", true, true, pageURL, approval.PageOptions{Login: full.Login, SignIn: signIn, OwnOrigin: true}, ""},
		{"a way to log out elsewhere", true, false, pageURL, approval.PageOptions{Login: full.Login, SignIn: signIn, SignOut: "//login.example.com/out"}, "PageOptions.SignOut"},
		{"a proxy that is none", true, false, pageURL, approval.PageOptions{Login: full.Login, SignIn: signIn, Proxies: []string{"?"}, ProxyHeader: "Forwarded"}, "Proxies"},
	} {
		n := newNotes(t, approval.Options{})
		approvals, err := approval.New(n.store, approval.Options{URL: test.url, Logger: quiet})
		n.must(err)
		options := ambit.Options{Name: "notes", Logger: quiet}
		if test.keys {
			options.Keys, err = ambit.ParseKeyRing(ambit.NewKey())
			n.must(err)
		}
		app := ambit.New(options)
		expose := ambit.HTTP
		if test.webmcp {
			expose |= ambit.WebMCP
		}
		app.Add(ambit.Define(ambit.Spec{Name: "notes.read", Description: "Reads.", Effect: ambit.Read, Permission: ambit.Authenticated, Expose: expose},
			func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		_, err = approval.NewPage(app, approvals, test.o)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want an error with %q, got %v", test.name, test.want, err)
		}
	}
}
