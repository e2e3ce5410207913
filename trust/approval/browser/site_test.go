package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
)

// site is an application with its approvals page and a login of its own, served
// on this machine.
type site struct {
	t     *testing.T
	url   string
	store *memory.Store
	key   string // of the agent that calls on behalf of alice

	mu     sync.Mutex
	people map[string]*ambit.Principal
	logins map[string]time.Time // by session
	posts  []string             // answers to forms, by status
}

type purgeInput struct {
	Folder string   `json:"folder" minLength:"1" doc:"Which folder"`
	Notes  []string `json:"notes,omitempty" doc:"Which notes; all where none are named"`
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, store: memory.New(), key: apikey.Generate(), people: map[string]*ambit.Principal{}, logins: map[string]time.Time{}}
	for _, name := range []string{"alice", "bob"} {
		s.people[name] = &ambit.Principal{Authority: "login", Subject: name, Permissions: []string{"notes:purge", "approvals:decide"}}
	}
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	quiet := slog.New(slog.DiscardHandler)
	approvals, err := approval.New(s.store, approval.Options{URL: s.url + "/approvals", Logger: quiet})
	s.must(err)
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	s.must(err)
	app := ambit.New(ambit.Options{Name: "notes", Title: "Notes", Keys: keys, Approver: approvals, Logger: quiet})
	preview := func(_ context.Context, in purgeInput) (ambit.Preview, error) {
		return ambit.Preview{
			Summary: "Delete 3 notes of “" + in.Folder + "” for good", Version: "rev-41", More: 1,
			Items: []ambit.PreviewItem{{ID: "n-17", Title: "Roadmap 2026", Change: "deleted"}, {ID: "n-18", Title: "תקציב 2026", Change: "deleted, with 2 attachments"}},
		}, nil
	}
	purge := func(context.Context, purgeInput) (ambit.Empty, error) { return ambit.Empty{}, nil }
	spec := ambit.Spec{
		Name: "notes.purge", Title: "Purge a folder", Description: "Deletes every note of a folder for good, with its attachments.", Effect: ambit.Destructive,
		Permission: "notes:purge", Expose: ambit.HTTP, Approval: ambit.Human,
	}
	both := spec
	both.Name, both.Title, both.Effect, both.Approval, both.Quorum = "notes.publish", "Publish a folder", ambit.External, ambit.FourEyes, 2
	app.Add(ambit.Define(spec, purge).WithPreview(preview), ambit.Define(both, purge).WithPreview(preview))
	page, err := approval.NewPage(app, approvals, approval.PageOptions{Login: s.login, SignOut: "/logout", SignIn: func(_ *http.Request, back string) string { return "/login?back=" + url.QueryEscape(back) }})
	s.must(err)
	agent, err := apikey.New(apikey.Key{Name: "assistant", Hash: apikey.Hash(s.key), Principal: &ambit.Principal{
		Kind: ambit.KindAgent, Permissions: []string{"notes:purge", "approvals:decide"}, Behind: []string{s.people["alice"].Key()},
	}})
	s.must(err)
	handler, err := serve.Handler(app, serve.Options{
		Trust: trust.Options{Authenticators: []trust.Authenticator{agent}},
		Wrap:  func(next http.Handler) http.Handler { return s.withLogin(page.Wrap(next)) },
	})
	s.must(err)
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(func() {
		server.Close()
		s.must(approvals.Close(context.Background()))
	})
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// withLogin adds the application's login: a page with a link for each person. Its
// cookie goes along with requests of other sites, so that it protects nothing.
func (s *site) withLogin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		back := r.URL.Query().Get("back")
		name, chosen := strings.CutPrefix(r.URL.Path, "/login/")
		switch {
		case r.URL.Path == "/login":
			for _, name := range []string{"alice", "bob"} {
				_, _ = fmt.Fprintf(w, `<a id="%s" href="/login/%[1]s?back=%s">%[1]s</a> `, name, html.EscapeString(url.QueryEscape(back)))
			}
		case r.URL.Path == "/logout":
			http.SetCookie(w, &http.Cookie{Name: "session", Path: "/", MaxAge: -1, HttpOnly: true, Secure: true, SameSite: http.SameSiteNoneMode})
			http.Redirect(w, r, "/login?back=/approvals", http.StatusSeeOther)
		case chosen:
			s.mu.Lock()
			s.logins[name] = time.Now()
			s.mu.Unlock()
			http.SetCookie(w, &http.Cookie{Name: "session", Value: name, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteNoneMode})
			http.Redirect(w, r, back, http.StatusSeeOther)
		default:
			if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/approvals") {
				w = &answered{w, s}
			}
			next.ServeHTTP(w, r)
		}
	})
}

// answered notes the status of an answer before the browser has it.
type answered struct {
	http.ResponseWriter
	of *site
}

func (a *answered) WriteHeader(status int) {
	a.of.mu.Lock()
	a.of.posts = append(a.of.posts, fmt.Sprint(status))
	a.of.mu.Unlock()
	a.ResponseWriter.WriteHeader(status)
}

func (s *site) login(r *http.Request) (*ambit.Principal, time.Time, error) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return nil, time.Time{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.people[cookie.Value], s.logins[cookie.Value], nil
}

// age makes all logins that much older.
func (s *site) age(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.logins {
		s.logins[name] = s.logins[name].Add(-d)
	}
}

// answers returns the statuses with which forms were answered so far.
func (s *site) answers() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.posts, " ")
}

// call is the agent's call: its status, and where a person decides.
func (s *site) call(capability string, in purgeInput) (status int, address string) {
	s.t.Helper()
	body, err := json.Marshal(in)
	s.must(err)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/"+strings.ReplaceAll(capability, ".", "/"), bytes.NewReader(body))
	s.must(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Ambit-Reason", "The quarter is over, and \u202ethe folder is no longer needed.")
	response, err := http.DefaultClient.Do(r)
	s.must(err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	s.must(err)
	var answer struct {
		Error struct {
			Code     string
			Approval struct{ URL string }
		}
	}
	s.must(json.Unmarshal(text, &answer))
	if response.StatusCode != http.StatusOK && answer.Error.Code != "approval_pending" {
		s.t.Fatalf("the agent's call: got %d %s", response.StatusCode, text)
	}
	return response.StatusCode, answer.Error.Approval.URL
}

// state returns how far the proposal at an address has come.
func (s *site) state(address string) string {
	s.t.Helper()
	r, err := s.store.Get(s.t.Context(), "", address[strings.LastIndex(address, "/")+1:])
	s.must(err)
	return r.State.String()
}
