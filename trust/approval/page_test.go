package approval_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// website is the application's page, with a login of its own: a cookie with the
// person's key and when they logged in.
type website struct {
	*notes
	page *approval.Page
}

func newWebsite(t testing.TB) *website {
	t.Helper()
	s := &website{notes: newNotes(t, approval.Options{})}
	s.open()
	return s
}

func (s *website) open() {
	s.t.Helper()
	var err error
	s.page, err = approval.NewPage(s.app, s.approvals, approval.PageOptions{Login: s.login, SignIn: signIn})
	s.must(err)
}

func (s *website) login(r *http.Request) (*ambit.Principal, time.Time, error) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return nil, time.Time{}, nil
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return nil, time.Time{}, err
	}
	age, err := time.ParseDuration(values.Get("age"))
	if err != nil {
		return nil, time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.people[values.Get("key")], time.Now().Add(-age), nil
}

func signIn(_ *http.Request, back string) string {
	return "https://login.example.com/?back=" + url.QueryEscape(back)
}

// session is the cookie of somebody who logged in that long ago.
func session(who *ambit.Principal, age string) func(*http.Request) {
	return func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "session", Value: url.Values{"key": {who.Key()}, "age": {age}}.Encode()})
	}
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = values }
}

func host(name string) func(*http.Request) {
	return func(r *http.Request) { r.Host = name }
}

// send sends a request as a browser does for a person who clicks.
func (s *website) send(method, path, body string, adjust ...func(*http.Request)) *http.Response {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "https://notes.example.com"+path, strings.NewReader(body))
	r.Header = http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Site": {"same-origin"}}
	if method == http.MethodPost {
		r.Header.Set("Origin", "https://notes.example.com")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, f := range adjust {
		f(r)
	}
	w := httptest.NewRecorder()
	s.page.ServeHTTP(w, r)
	return w.Result()
}

func (s *website) text(r *http.Response) string {
	s.t.Helper()
	text, err := io.ReadAll(r.Body)
	s.must(err)
	return string(text)
}

// form returns what a person sends who was shown a proposal.
func (s *website) form(who *ambit.Principal, id string, v approval.Verdict) url.Values {
	s.t.Helper()
	text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(who, "1m")))
	token := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(text)
	if token == nil {
		s.t.Fatalf("no form for %s in:\n%s", who.Subject, text)
	}
	return url.Values{"token": {token[1]}, "verdict": {v.String()}, "reason": {"looked at it"}}
}

func TestPageDecides(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	form := s.form(bob, id, approval.Approve)
	answer := s.send(http.MethodPost, "/approvals/"+id, form.Encode(), session(bob, "1m"))
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/approvals/"+id {
		t.Errorf("want to be sent back to the proposal, got %d %s", answer.StatusCode, answer.Header.Get("Location"))
	}
	r, err := s.store.Get(t.Context(), "", id)
	s.must(err)
	if r.State != ambit.ProposalApproved || len(r.Decisions) != 1 || r.Decisions[0].Reason != "looked at it" || r.Decisions[0].Decider != bob.Key() {
		t.Errorf("want it approved by bob with the reason, got %s with %+v", r.State, r.Decisions)
	}
	text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(bob, "1m")))
	if !strings.Contains(text, "looked at it") || !strings.Contains(text, ">Revoke<") || strings.Contains(text, ">Approve<") {
		t.Errorf("want the decision and a way back, got:\n%s", text)
	}
}

// Whatever a program can prove itself by finds nothing, whoever it is for.
func TestT12_PageTakesNoProgram(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	form := s.form(bob, id, approval.Approve).Encode()
	never := s.text(s.send(http.MethodGet, "/approvals/"+strings.Repeat("x", len(id)), "", session(bob, "1m")))
	for _, test := range []struct {
		name   string
		adjust []func(*http.Request)
	}{
		{"a bearer token", []func(*http.Request){header("Authorization", "Bearer good")}},
		{"a bearer token beside a session", []func(*http.Request){header("Authorization", "Bearer good"), session(bob, "1m")}},
		{"basic credentials beside a session", []func(*http.Request){header("Authorization", "Basic Ym9iOmJvYg=="), session(bob, "1m")}},
		{"a DPoP proof beside a session", []func(*http.Request){header("Dpop", "x.y.z"), session(bob, "1m")}},
		{"an agent's signature beside a session", []func(*http.Request){header("Signature", "a=:AA==:"), header("Signature-Input", `a=("@authority")`), session(bob, "1m")}},
		{"an agent's name beside a session", []func(*http.Request){header("Signature-Agent", `"https://agent.example"`), session(bob, "1m")}},
		{"an agent's session", []func(*http.Request){session(s.person("model", as(ambit.KindAgent)), "1m")}},
		{"a service's session", []func(*http.Request){session(s.person("robot", as(ambit.KindService)), "1m")}},
		{"a session of another tenant", []func(*http.Request){session(s.person("mallory", in("acme")), "1m")}},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			answer := s.send(method, "/approvals/"+id, form, test.adjust...)
			if answer.StatusCode != http.StatusNotFound {
				t.Errorf("%s with %s: want 404, got %d", method, test.name, answer.StatusCode)
			}
			if diff := cmp.Diff(never, s.text(answer)); diff != "" && method == http.MethodGet {
				t.Errorf("%s with %s is not what an unknown proposal answers (-want +got):\n%s", method, test.name, diff)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		answer := s.send(method, "/approvals/"+id, form)
		want := "https://login.example.com/?back=" + url.QueryEscape("/approvals/"+id)
		if got := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s without a session: want to be sent to %s, got %d %s", method, want, answer.StatusCode, got)
		}
	}
	if got := s.state(id); got != "pending" {
		t.Errorf("want pending, got %s", got)
	}
}

// A session is not enough that somebody left open.
func TestT12_FreshLogin(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	form := s.form(bob, id, approval.Approve).Encode()
	for _, age := range []string{"5m1s", "24h", "-2m"} {
		answer := s.send(http.MethodPost, "/approvals/"+id, form, session(bob, age))
		text := s.text(answer)
		if answer.StatusCode != http.StatusForbidden || !strings.Contains(text, `href="https://login.example.com/?back=%2Fapprovals%2F`+id) {
			t.Errorf("%s old: want 403 and the way to log in, got %d:\n%s", age, answer.StatusCode, text)
		}
		if strings.Contains(text, `name="token"`) {
			t.Errorf("%s old: want no form", age)
		}
	}
	if got := s.state(id); got != "pending" {
		t.Errorf("want pending, got %s", got)
	}
	if answer := s.send(http.MethodPost, "/approvals/"+id, form, session(bob, "4m50s")); answer.StatusCode != http.StatusSeeOther || s.state(id) != "approved" {
		t.Errorf("within five minutes: want it approved, got %d and %s", answer.StatusCode, s.state(id))
	}
}

// A form is for one person, one proposal as it stands, and one time.
func TestT12_FormsAreUsedOnce(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice, bob, carol := s.person("alice"), s.person("bob"), s.person("carol")
	id, other := s.ask(alice, "notes.purge_both", "old"), s.ask(alice, "notes.purge_both", "older")
	stale := s.form(bob, id, approval.Approve)
	s.fill("4 notes")
	s.ask(alice, "notes.purge_both", "old")
	form := s.form(bob, id, approval.Approve)
	altered := url.Values{"token": {form.Get("token")[:40] + "AAAA" + form.Get("token")[44:]}, "verdict": {"approve"}}
	for _, test := range []struct {
		name string
		who  *ambit.Principal
		id   string
		form url.Values
	}{
		{"no token", bob, id, url.Values{"verdict": {"approve"}}},
		{"a token that is none", bob, id, url.Values{"verdict": {"approve"}, "token": {"?"}}},
		{"an altered token", bob, id, altered},
		{"the form of another person", carol, id, form},
		{"the form of another proposal", bob, other, form},
		{"the form of an earlier preview", bob, id, stale},
	} {
		answer := s.send(http.MethodPost, "/approvals/"+test.id, test.form.Encode(), session(test.who, "1m"))
		text := s.text(answer)
		if answer.StatusCode != http.StatusConflict || !strings.Contains(text, "Nothing was decided") {
			t.Errorf("%s: want 409, got %d:\n%s", test.name, answer.StatusCode, text)
		}
	}
	send := func() int {
		return s.send(http.MethodPost, "/approvals/"+id, form.Encode(), session(bob, "1m")).StatusCode
	}
	if first, second := send(), send(); first != http.StatusSeeOther || second != http.StatusConflict {
		t.Errorf("the form sent twice: want 303 and 409, got %d and %d", first, second)
	}
	r, err := s.store.Get(t.Context(), "", id)
	s.must(err)
	if len(r.Decisions) != 1 || r.State != ambit.ProposalPending {
		t.Errorf("want one of two decisions, got %d and %s", len(r.Decisions), r.State)
	}
}

// A form is about the proposal as it stood: another person's word makes it void,
// and so does time.
func TestT12_FormsGrowStale(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob, carol := s.person("bob"), s.person("carol")
	id := s.ask(s.person("alice"), "notes.purge_both", "old")
	send := func(form url.Values, age string) (int, string) {
		answer := s.send(http.MethodPost, "/approvals/"+id, form.Encode(), session(bob, age))
		return answer.StatusCode, s.text(answer)
	}
	form := s.form(bob, id, approval.Approve)
	s.must(s.decide(carol, id, approval.Approve))
	if status, text := send(form, "1m"); status != http.StatusConflict || !strings.Contains(text, "no longer valid") {
		t.Errorf("after another decision: want 409 for the form, got %d:\n%s", status, text)
	}
	form = s.form(bob, id, approval.Approve)
	approval.SetAhead(s.page, 30*time.Minute+time.Second)
	if status, text := send(form, "-29m"); status != http.StatusConflict || !strings.Contains(text, "no longer valid") {
		t.Errorf("after half an hour: want 409 for the form, got %d:\n%s", status, text)
	}
	approval.SetAhead(s.page, 29*time.Minute)
	if status, _ := send(form, "-28m"); status != http.StatusSeeOther || s.state(id) != "approved" {
		t.Errorf("before that: want it taken, got %d and %s", status, s.state(id))
	}
}

// Nothing but the page itself, at its own address, sends its forms; a person may
// follow a link to it from anywhere.
func TestT28_PageHostAndOrigin(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	form := s.form(bob, id, approval.Approve).Encode()
	without := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	for _, test := range []struct {
		name, method string
		status       int
		adjust       []func(*http.Request)
	}{
		{"a page of another site", http.MethodPost, 403, []func(*http.Request){header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")}},
		{"a page of another site, older browser", http.MethodPost, 403, []func(*http.Request){header("Origin", "https://evil.example"), without("Sec-Fetch-Site")}},
		{"a page without an origin", http.MethodPost, 403, []func(*http.Request){header("Origin", "null")}},
		{"a page of a sibling host", http.MethodPost, 403, []func(*http.Request){header("Origin", "https://www.example.com"), header("Sec-Fetch-Site", "same-site")}},
		{"the page over plain http", http.MethodPost, 403, []func(*http.Request){header("Origin", "http://notes.example.com")}},
		{"nobody says from where", http.MethodPost, 403, []func(*http.Request){without("Origin"), without("Sec-Fetch-Site")}},
		{"a rebound name", http.MethodPost, 403, []func(*http.Request){host("rebound.example"), header("Origin", "https://rebound.example")}},
		{"a rebound name, to look", http.MethodGet, 403, []func(*http.Request){host("rebound.example")}},
		{"an address", http.MethodGet, 403, []func(*http.Request){host("127.0.0.1")}},
		{"JSON", http.MethodPost, 415, []func(*http.Request){header("Content-Type", "application/json")}},
		{"plain text", http.MethodPost, 415, []func(*http.Request){header("Content-Type", "text/plain")}},
		{"a multipart form", http.MethodPost, 415, []func(*http.Request){header("Content-Type", "multipart/form-data; boundary=x")}},
		{"a frame of another site", http.MethodGet, 403, []func(*http.Request){header("Sec-Fetch-Dest", "iframe"), header("Sec-Fetch-Site", "cross-site")}},
		{"a script of the own origin", http.MethodGet, 403, []func(*http.Request){header("Sec-Fetch-Mode", "cors"), header("Sec-Fetch-Dest", "empty")}},
		{"another method", http.MethodPut, 405, nil},
		{"a link in a mail", http.MethodGet, 200, []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}},
		{"a typed address", http.MethodGet, 200, []func(*http.Request){header("Sec-Fetch-Site", "none")}},
		{"an old browser", http.MethodGet, 200, []func(*http.Request){without("Sec-Fetch-Site"), without("Sec-Fetch-Mode"), without("Sec-Fetch-Dest")}},
	} {
		answer := s.send(test.method, "/approvals/"+id, form, append(test.adjust, session(bob, "1m"))...)
		if want, got := test.status, answer.StatusCode; want != got {
			t.Errorf("%s: want %d, got %d: %s", test.name, want, got, s.text(answer))
		}
		if got := s.state(id); got != "pending" {
			t.Fatalf("%s: want pending, got %s", test.name, got)
		}
	}
	large := form + "&more=" + strings.Repeat("x", 8<<10)
	if answer := s.send(http.MethodPost, "/approvals/"+id, large, session(bob, "1m")); answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a large form: want 413, got %d", answer.StatusCode)
	}
	if answer := s.send(http.MethodPost, "/approvals/"+id+"?"+form, "", session(bob, "1m")); answer.StatusCode != http.StatusConflict && answer.StatusCode != http.StatusBadRequest || s.state(id) != "pending" {
		t.Errorf("a form in the address: want it refused, got %d and %s", answer.StatusCode, s.state(id))
	}
}

// Answers of every kind are neither kept, nor framed, nor scripted.
func TestPageHeaders(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	want := http.Header{
		"Content-Security-Policy": {"default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"},
		"Cache-Control":           {"no-store"}, "Referrer-Policy": {"same-origin"}, "X-Content-Type-Options": {"nosniff"}, "X-Frame-Options": {"DENY"},
		"Cross-Origin-Opener-Policy": {"same-origin"}, "Cross-Origin-Resource-Policy": {"same-origin"}, "Permissions-Policy": {"tools=()"},
	}
	for path, adjust := range map[string]func(*http.Request){
		"/approvals": session(bob, "1m"), "/approvals/": session(bob, "1m"), "/approvals/" + id: session(bob, "1m"),
		"/approvals/unknown": session(bob, "1m"), "/approvals/a/b": session(bob, "1m"), "/elsewhere": session(bob, "1m"), "/approvals/?": host("evil.example"),
	} {
		got := s.send(http.MethodGet, path, "", adjust).Header
		for name := range got {
			if want[name] == nil {
				got.Del(name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", path, diff)
		}
	}
	text := s.text(s.send(http.MethodGet, "/approvals/", "", session(bob, "1m")))
	style := regexp.MustCompile(`href="(/approvals/style-[0-9a-f]+\.css)"`).FindStringSubmatch(text)
	if style == nil {
		t.Fatalf("no style in:\n%s", text)
	}
	sheet := s.send(http.MethodGet, style[1], "", header("Sec-Fetch-Mode", "no-cors"), header("Sec-Fetch-Dest", "style"))
	if sheet.StatusCode != http.StatusOK || sheet.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the style sheet: got %d %s", sheet.StatusCode, sheet.Header.Get("Content-Type"))
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "style=") {
		t.Error("want neither scripts nor styles in the page")
	}
}

// The complete input is on the page, and nothing in it is obeyed.
func TestT10_PageShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	alice := s.person("al\u202eice")
	folder := `</pre><script>alert(1)</script>` + "\x1b[2J\u202e\u2066\u200b" + `"\` + "שלום עולם 123 \u0430pple " + strings.Repeat("0123456789", 5900)
	waits, _ := s.asked(alice, "notes.purge", shelfInput{Folder: folder}, "it's <b>urgent</b>\u202e")
	text := s.text(s.send(http.MethodGet, "/approvals/"+waits.ID, "", session(bob, "1m")))
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
		t.Errorf("want nothing that a screen obeys, got %q", text[max(0, i-20):i+20])
	}
	for _, bad := range []string{"<script", "<b>", "</pre><"} {
		if strings.Contains(text, bad) {
			t.Errorf("want no %s", bad)
		}
	}
	pre := regexp.MustCompile(`(?s)<pre class="json">(.*?)</pre>`).FindStringSubmatch(text)
	if pre == nil {
		t.Fatal("no input on the page")
	}
	var got shelfInput
	if err := json.Unmarshal([]byte(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(pre[1], ""))), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shelfInput{Folder: folder}, got); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	if !strings.Contains(text, `<bdi class="str">&#34;&lt;/pre&gt;`) {
		t.Error("want the text isolated from what stands around it")
	}
	reason := strings.Index(text, "it&#39;s &lt;b&gt;urgent&lt;/b&gt;\\u202e")
	if reason < strings.Index(text, "</pre>") {
		t.Error("want the caller's reason after the input")
	}
}

func TestT09_PageHasNoSecret(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-1f3c"
	s := newWebsite(t)
	bob := s.person("bob")
	waits, _ := s.asked(s.person("alice"), "notes.purge", shelfInput{Folder: "old", Pin: canary}, "")
	text := s.text(s.send(http.MethodGet, "/approvals/"+waits.ID, "", session(bob, "1m")))
	if strings.Contains(text, canary) || !strings.Contains(text, "pin") {
		t.Errorf("want the field without its value, got:\n%s", text)
	}
}

// Who asked for what takes four eyes is told so, and can only withdraw it.
func TestT13_PageRefusesTheRequester(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice := s.person("alice")
	id := s.ask(alice, "notes.purge_all", "old")
	text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(alice, "1m")))
	if strings.Contains(text, ">Approve<") || !strings.Contains(text, ">Deny<") || !strings.Contains(text, "another pair of eyes") {
		t.Errorf("want the reason and no way to approve, got:\n%s", text)
	}
	answer := s.send(http.MethodPost, "/approvals/"+id, s.form(alice, id, approval.Approve).Encode(), session(alice, "1m"))
	if answer.StatusCode != http.StatusForbidden || s.state(id) != "pending" {
		t.Errorf("want 403 and pending, got %d and %s", answer.StatusCode, s.state(id))
	}
}

func TestPageLists(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice, bob := s.person("alice"), s.person("bob")
	waiting, denied, lost := s.ask(alice, "notes.purge", "a"), s.ask(alice, "notes.purge", "b"), s.ask(alice, "notes.purge", "c")
	s.must(s.decide(bob, denied, approval.Deny))
	s.must(s.decide(bob, lost, approval.Approve))
	s.lose(lost)
	for query, want := range map[string]string{"": waiting, "?show=": waiting, "?show=nonsense": waiting, "?show=approved": "", "?show=unknown": lost, "?show=closed": denied} {
		text := s.text(s.send(http.MethodGet, "/approvals/"+query, "", session(bob, "20m")))
		for _, id := range []string{waiting, denied, lost} {
			if shown := strings.Contains(text, id); shown != (id == want) {
				t.Errorf("%q: shown %v, want %v", query, shown, id == want)
			}
		}
	}
	if answer := s.send(http.MethodGet, "/approvals/?after=nonsense", "", session(bob, "1m")); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a cursor that is none: want %d, got %d", http.StatusBadRequest, answer.StatusCode)
	}
	again := s.text(s.send(http.MethodGet, "/approvals/"+lost, "", session(bob, "1m")))
	if !strings.Contains(again, ">It took effect<") || !strings.Contains(again, ">It did not<") {
		t.Errorf("want the ways to settle, got:\n%s", again)
	}
}
