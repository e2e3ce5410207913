package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
)

// TestReviewKeys has one process serve agents and another one the approvals page, on
// one database: nobody can decide by the first, and what is decided in the other
// runs in it.
func TestReviewKeys(t *testing.T) {
	t.Parallel()
	folder, address := t.TempDir(), freeAddress(t)
	seals, opens := ambit.NewReviewKey()
	process := func(half string, args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), built(t), append(args, "--db", filepath.Join(folder, "notes.db"))...)
		command.Env = append(command.Environ(), "AMBIT_REVIEW_KEYS="+half)
		return command
	}
	serving := func(half string, args ...string) *serving {
		s := listen(t, process(half, args...))
		s.keys = shownKeys(s.output.String())
		return s
	}
	agents := serving(seals, "--addr", "127.0.0.1:0", "--approvals-url", "http://"+address)
	agents.says(t, `(approvals page=http://`+address+`/approvals of another process)`)
	deciders := serving(opens, "--addr", address, "--public-url", "http://"+address)
	code := deciders.says(t, `approvals page=\S+ code=(\w+)`)

	page := found(t, publish(t, agents), `"url":"http://`+address+`(/approvals/\w+)"`)
	nobody := browser{t: t, client: withJar(t), origin: "http://" + agents.addr}
	for _, path := range []string{page, "/login"} {
		if status, text := nobody.get(path); status != http.StatusNotFound {
			t.Errorf("%s where agents are served: want 404, got %d\n%s", path, status, text)
		}
	}
	id := strings.TrimPrefix(page, "/approvals/")
	for _, verb := range []string{"show", "approve"} {
		command := process(seals, "approvals", verb, id, "--as", "owner")
		var said, shown bytes.Buffer
		command.Stdout, command.Stderr = &shown, &said
		_ = command.Run()
		if got := command.ProcessState.ExitCode(); got != 5 || shown.Len() > 0 || !strings.Contains(said.String(), "Nobody decides in this program") {
			t.Errorf("%s: want exit code 5 and nothing shown, got %d, %s%s", verb, got, shown.String(), said.String())
		}
	}
	if out, err := process(opens, "approvals", "show", id, "--as", "owner").Output(); err != nil || !strings.Contains(string(out), "lentil soup") {
		t.Errorf("show with the half that opens: want the preview, got %v\n%s", err, out)
	}

	owner := browser{t: t, client: withJar(t), origin: "http://" + address}
	_, text := owner.post("/login?back="+page, url.Values{"name": {"owner"}, "code": {code}})
	if !strings.Contains(text, "lentil soup") {
		t.Fatalf("want the proposal with its preview, got\n%s", text)
	}
	form := url.Values{"verdict": {"approve"}, "token": {found(t, text, `name="token" value="([^"]+)"`)}, "reason": {"It is a good soup."}}
	if status, text := owner.post(page, form); status != http.StatusOK {
		t.Fatalf("want it approved, got %d\n%s", status, text)
	}
	if answer := publish(t, agents); !strings.Contains(answer, `{"ok":true,"data":{"id":35,"version":1}}`) {
		t.Errorf("want it published, got %s", answer)
	}
}

// A mistake in AMBIT_REVIEW_KEYS keeps the program from starting, and is not shown.
func TestReviewKeysThatAreNone(t *testing.T) {
	key := ambit.NewKey()
	t.Setenv("AMBIT_REVIEW_KEYS", key)
	var said bytes.Buffer
	code := program(&said).Run(t.Context(), []string{"list", "--as", "reader", "--db", filepath.Join(t.TempDir(), "notes.db")}, strings.NewReader(""), &said, &said)
	if text := said.String(); code == 0 || !strings.Contains(text, "AMBIT_REVIEW_KEYS: ambit: review key 1: it begins with neither ambit_seals. nor ambit_opens.") || strings.Contains(text, key) {
		t.Errorf("want to be told what is wrong, got %d and %s", code, text)
	}
}

// A process that serves agents has the ring, and can make nobody's login by it.
func TestLoginIsOfTheHalfThatOpens(t *testing.T) {
	t.Parallel()
	ring, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	_, opens := ambit.NewReviewKey()
	review, err := ambit.ParseReviewKeys(opens)
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: name, Keys: ring, ReviewKeys: review})
	people := newLogin(app, func(_ context.Context, name string) (*ambit.Principal, error) {
		return &ambit.Principal{Subject: name}, nil
	})
	for _, test := range []struct {
		name string
		by   *ambit.Sealer
		want bool
	}{{"who decides", app.ReviewSealer("login"), true}, {"the ring", app.Sealer("login"), false}} {
		sealed := test.by.Seal(nil, []byte(strconv.FormatInt(time.Now().Unix(), 10)+" owner"), nil)
		r := httptest.NewRequest(http.MethodGet, "/approvals", nil)
		r.AddCookie(&http.Cookie{Name: cookie, Value: base64.RawURLEncoding.EncodeToString(sealed)})
		if person, _, err := people.who(r); err != nil || (person != nil) != test.want {
			t.Errorf("a login made by %s: want it to hold: %t, got %v, %v", test.name, test.want, person, err)
		}
	}
}
