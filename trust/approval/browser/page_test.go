package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ambit-dev/ambit/trust/approval"
)

// hostile is an input of some 60 KB that would rather not be read.
func hostile() purgeInput {
	in := purgeInput{Folder: "Q3 \u202eplans\u2066 \x1b[2J</pre><script>document.title='gone'</script> תיקייה 123"}
	for i := range 1100 {
		in.Notes = append(in.Notes, fmt.Sprintf("note-%04d: %s", i, strings.Repeat("lorem ", 6)))
	}
	in.Notes = append(in.Notes, "the very last note")
	return in
}

// screenshot keeps a picture of the window for a person to look at.
func screenshot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A person is sent to the proposal, logs in, sees everything at either width,
// says yes with a reason, and the agent that waits goes on.
func TestPersonApproves(t *testing.T) {
	s, ctx := newSite(t), newBrowser(t)
	status, address := s.call("notes.purge", hostile())
	if status != http.StatusConflict || address == "" {
		t.Fatalf("want the agent to wait, got %d %q", status, address)
	}
	run(t, ctx, withoutScripts(), window(1280, 900, "light"), chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#bob")))
	run(t, ctx, chromedp.Click(chromedp.CSS("#bob")), chromedp.WaitVisible(chromedp.CSS("#decide")))
	for _, at := range []struct {
		name          string
		width, height int64
		scheme        string
	}{{"wide", 1280, 800, "light"}, {"wide-dark", 1280, 800, "dark"}, {"narrow", 390, 844, "light"}, {"narrow-dark", 390, 844, "dark"}} {
		run(t, ctx, window(at.width, at.height, at.scheme), script("scrollTo(0, 0)"))
		for _, place := range []string{"top", "middle", "end"} {
			run(t, ctx, script(map[string]string{
				"top": "scrollTo(0, 0)", "middle": "scrollTo(0, document.documentElement.scrollHeight / 2)", "end": "scrollTo(0, document.documentElement.scrollHeight)",
			}[place]))
			screenshot(t, ctx, at.name+"-"+place)
			if out := value[string](t, ctx, buttonsOutside); out != "" {
				t.Errorf("%s, %s: want both buttons visible, not so: %s", at.name, place, out)
			}
		}
		if got := value[float64](t, ctx, "document.documentElement.scrollWidth - innerWidth"); got > 0 {
			t.Errorf("%s: want nothing to the right of the window, got %v px", at.name, got)
		}
		if got := value[bool](t, ctx, lastNoteReached); !got {
			t.Errorf("%s: want the end of the input reachable", at.name)
		}
		run(t, ctx, script("scrollTo(0, 0)"))
		if hidden := value[string](t, ctx, previewHidden); hidden != "" {
			t.Errorf("%s: want what would change seen before anything is scrolled, not so: %s", at.name, hidden)
		}
	}
	text := value[string](t, ctx, "document.querySelector('pre.json').textContent")
	if want := len(hostile().Notes); strings.Count(text, "note") < want || !strings.Contains(text, `\u202eplans\u2066 \u001b[2J</pre><script>`) {
		t.Errorf("want the complete input with its characters shown, got %d bytes: %.300s", len(text), text)
	}
	if title := value[string](t, ctx, "document.title"); title != "Purge a folder · Notes" {
		t.Errorf("title: got %q", title)
	}
	run(t, ctx, chromedp.SendKeys(chromedp.CSS("input[name=reason]"), "Checked with the team"), chromedp.Click(chromedp.CSS("button[value=approve]")), chromedp.WaitVisible(chromedp.CSS(".state.approved")))
	screenshot(t, ctx, "approved")
	if got := value[string](t, ctx, "document.querySelector('.decisions').textContent"); !strings.Contains(got, "Approved bob") || !strings.Contains(got, "Checked with the team") {
		t.Errorf("want the decision on the page, got %q", got)
	}
	if status, _ := s.call("notes.purge", hostile()); status != http.StatusOK || s.state(address) != "succeeded" {
		t.Errorf("the agent again: want 200 and succeeded, got %d and %s", status, s.state(address))
	}
}

const (
	// buttonsOutside names the buttons of the form that are not wholly in the
	// window, or under something else.
	buttonsOutside = `[...document.querySelectorAll('.buttons button')].filter(b => {
		const r = b.getBoundingClientRect();
		return r.width < 60 || r.height < 40 || r.left < 0 || r.top < 0 || r.right > innerWidth || r.bottom > innerHeight ||
			document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) !== b;
	}).map(b => b.textContent).join(', ')`
	// previewHidden names the lines of what would change that are not wholly in the
	// window, or under something else.
	previewHidden = `[document.querySelector('.summary'), ...document.querySelectorAll('.items li')].filter(e => {
		const r = e.getBoundingClientRect();
		return r.top < 0 || r.bottom > innerHeight || !e.contains(document.elementFromPoint(r.left + 4, r.bottom - 6)) || !e.contains(document.elementFromPoint(r.left + 4, r.top + 12));
	}).map(e => e.textContent).join(', ')`
	// lastNoteReached scrolls to the end of the input and says whether it can be
	// seen there.
	lastNoteReached = `(() => {
		const last = [...document.querySelectorAll('pre.json bdi')].findLast(b => b.textContent.includes('the very last note'));
		last.scrollIntoView({block: 'center'});
		const r = last.getBoundingClientRect();
		return document.elementFromPoint(r.left + 2, (r.top + r.bottom) / 2) === last;
	})()`
	// focused says what has the focus.
	focused = `(() => { const e = document.activeElement; return e.name === 'verdict' ? e.value : e.name || e.className || e.tagName; })()`
)

// Everything can be done by keyboard, and nothing is decided by accident.
func TestKeyboard(t *testing.T) {
	s, ctx := newSite(t), newBrowser(t)
	_, address := s.call("notes.purge", purgeInput{Folder: "Q3"})
	run(t, ctx, window(1280, 900, "light"), chromedp.Navigate(s.url+"/login/bob?back="+address[len(s.url):]), chromedp.WaitVisible(chromedp.CSS("#decide")))
	run(t, ctx, chromedp.KeyEvent(kb.Tab))
	if got := value[string](t, ctx, focused); got != "skip" {
		t.Errorf("the first key: want the way to the decision, got %q", got)
	}
	screenshot(t, ctx, "skip")
	run(t, ctx, chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if got := value[string](t, ctx, focused); got != "reason" {
		t.Errorf("after it: want the reason, got %q", got)
	}
	run(t, ctx, chromedp.KeyEvent("typed"), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if got := value[string](t, ctx, focused); got != "deny" {
		t.Errorf("next: want to be able to deny, got %q", got)
	}
	if got := s.answers(); got != "" {
		t.Errorf("Enter in the reason: want nothing sent, got %s", got)
	}
	run(t, ctx, chromedp.KeyEvent(kb.Tab))
	if got := value[string](t, ctx, focused); got != "approve" {
		t.Errorf("next: want to be able to approve, got %q", got)
	}
	screenshot(t, ctx, "focus")
	run(t, ctx, chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(chromedp.CSS(".state.approved")))
	if got := s.state(address); got != "approved" {
		t.Errorf("want approved, got %s", got)
	}
}

// Who asked for what takes four eyes is shown why they cannot approve it; so is
// whoever their agent acts for.
func TestFourEyes(t *testing.T) {
	s, ctx := newSite(t), newBrowser(t)
	_, address := s.call("notes.publish", purgeInput{Folder: "Q3"})
	run(t, ctx, window(1280, 900, "light"), chromedp.Navigate(s.url+"/login/alice?back="+address[len(s.url):]), chromedp.WaitVisible(chromedp.CSS("#decide")))
	screenshot(t, ctx, "requester")
	if got := value[string](t, ctx, "[...document.querySelectorAll('.buttons button')].map(b => b.value).join()"); got != "deny" {
		t.Errorf("want deny alone, got %q", got)
	}
	// A form that says otherwise is refused.
	run(t, ctx, script("document.querySelector('.buttons button').value = 'approve'"), chromedp.Click(chromedp.CSS(".buttons button")), chromedp.WaitVisible(chromedp.CSS(".alert")))
	if got := value[string](t, ctx, "document.querySelector('.alert').textContent"); !strings.Contains(got, "another pair of eyes") || s.answers() != "403" || s.state(address) != "pending" {
		t.Errorf("want it refused, got %q, %s, %s", got, s.answers(), s.state(address))
	}
	run(t, ctx, chromedp.Navigate(s.url+"/login/bob?back="+address[len(s.url):]), chromedp.WaitVisible(chromedp.CSS("#decide")), chromedp.Click(chromedp.CSS("button[value=approve]")), chromedp.WaitVisible(chromedp.CSS(".decisions")))
	if got := s.state(address); got != "pending" {
		t.Errorf("one of two: want pending, got %s", got)
	}
	screenshot(t, ctx, "one-of-two")
	run(t, ctx, chromedp.Navigate(s.url+"/approvals/"), chromedp.WaitVisible(chromedp.CSS(".list")))
	screenshot(t, ctx, "list")
	run(t, ctx, window(390, 844, "dark"))
	screenshot(t, ctx, "list-narrow-dark")
	run(t, ctx, chromedp.Navigate(s.url+"/approvals/?show=closed"), chromedp.WaitVisible(chromedp.CSS(".empty")))
	screenshot(t, ctx, "list-empty")
}

// A session that was left open shows and does not decide; logging in again leads
// back.
func TestLoginIsRenewed(t *testing.T) {
	s, ctx := newSite(t), newBrowser(t)
	_, address := s.call("notes.purge", purgeInput{Folder: "Q3"})
	run(t, ctx, window(390, 844, "light"), chromedp.Navigate(s.url+"/login/bob?back="+address[len(s.url):]), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	s.age(10 * time.Minute)
	run(t, ctx, chromedp.Click(chromedp.CSS("button[value=approve]")), chromedp.WaitVisible(chromedp.CSS(".alert")))
	screenshot(t, ctx, "again")
	if s.answers() != "403" || s.state(address) != "pending" {
		t.Errorf("want it refused, got %s, %s", s.answers(), s.state(address))
	}
	run(t, ctx, chromedp.Click(chromedp.CSS(".again + .buttons a")), chromedp.WaitVisible(chromedp.CSS("#bob")), chromedp.Click(chromedp.CSS("#bob")), chromedp.WaitVisible(chromedp.CSS("button[value=deny]")))
	run(t, ctx, chromedp.Click(chromedp.CSS("button[value=deny]")), chromedp.WaitVisible(chromedp.CSS(".state.denied")))
	screenshot(t, ctx, "denied")
	run(t, ctx, chromedp.Click(chromedp.CSS(".who button")), chromedp.WaitVisible(chromedp.CSS("#bob")))
	run(t, ctx, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#bob"))) // nobody is logged in
	run(t, ctx, chromedp.Click(chromedp.CSS("#bob")), chromedp.WaitVisible(chromedp.CSS(".items")))
}

// Neither another site nor a name that was pointed at this machine sends a form
// for a person who is logged in, nor frames the page.
func TestForeignPages(t *testing.T) {
	s, ctx := newSite(t), newBrowser(t)
	_, address := s.call("notes.purge", purgeInput{Folder: "Q3"})
	run(t, ctx, window(1280, 900, "light"), chromedp.Navigate(s.url+"/login/bob?back="+address[len(s.url):]), chromedp.WaitVisible(chromedp.CSS("#decide")))
	token := value[string](t, ctx, "document.querySelector('input[name=token]').value") // more than a site can know
	fields := fmt.Sprintf(`<input name="token" value="%s"><input name="verdict" value="%s"><button id="send">send</button>`, token, approval.Approve)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/frame":
			_, _ = fmt.Fprintf(w, `<iframe id="frame" src="%s"></iframe>`, address)
		default:
			_, _ = fmt.Fprintf(w, `<form method="post" action="%s">%s</form>`, address, fields)
		}
	}))
	defer evil.Close()
	for _, from := range []string{strings.Replace(evil.URL, "127.0.0.1", "evil.example", 1), evil.URL} {
		before := s.answers()
		run(t, ctx, chromedp.Navigate(from+"/form"), chromedp.Click(chromedp.CSS("#send")), chromedp.WaitVisible(chromedp.CSS(".problem")))
		if got := s.answers(); got != strings.TrimSpace(before+" 403") || s.state(address) != "pending" {
			t.Errorf("a form of %s: want 403 and pending, got %s and %s", from, got, s.state(address))
		}
		run(t, ctx, chromedp.Navigate(from+"/frame"), chromedp.WaitReady(chromedp.CSS("#frame")))
	}
	rebound := strings.Replace(address, "127.0.0.1", "rebound.example", 1)
	before := s.answers()
	run(t, ctx, chromedp.Navigate(rebound), chromedp.WaitVisible(chromedp.CSS(".problem")))
	screenshot(t, ctx, "rebound")
	if got := value[string](t, ctx, "document.body.textContent"); strings.Contains(got, "Purge") {
		t.Errorf("a rebound name: want nothing of the proposal, got %q", got)
	}
	post := fmt.Sprintf(`(() => { const f = document.createElement('form'); f.method = 'post'; f.action = %q; f.innerHTML = %q; document.body.append(f); f.querySelector('button').click(); })()`, rebound, fields)
	run(t, ctx, chromedp.Navigate("about:blank"), script(post), chromedp.WaitVisible(chromedp.CSS(".problem")))
	if got := s.answers(); got != strings.TrimSpace(before+" 403") || s.state(address) != "pending" {
		t.Errorf("a form to a rebound name: want 403 and pending, got %s and %s", got, s.state(address))
	}
	// A link from elsewhere is followed.
	run(t, ctx, chromedp.Navigate(strings.Replace(evil.URL, "127.0.0.1", "evil.example", 1)), script(fmt.Sprintf("location.href = %q", address)), chromedp.WaitVisible(chromedp.CSS("#decide")))
}
