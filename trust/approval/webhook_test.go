package approval_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/approval"
)

// signed reports whether a secret has signed a webhook's request within five
// minutes: what a receiver does.
func signed(secret []byte, header string, body []byte, now time.Time) bool {
	var seconds string
	var signatures []string
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			seconds = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || now.Sub(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	code := hmac.New(sha256.New, secret)
	code.Write([]byte(seconds + "."))
	code.Write(body)
	for _, signature := range signatures {
		if given, err := hex.DecodeString(signature); err == nil && hmac.Equal(given, code.Sum(nil)) {
			return true
		}
	}
	return false
}

// delivery is a request that a receiver got.
type delivery struct {
	header http.Header
	body   []byte
}

// receiver answers the requests of a webhook with these statuses, the last one
// again and again.
func receiver(t *testing.T, header http.Header, statuses ...int) (url string, got <-chan delivery) {
	t.Helper()
	deliveries := make(chan delivery, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		deliveries <- delivery{r.Header, body}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(statuses[0])
		statuses = statuses[min(1, len(statuses)-1):]
	}))
	t.Cleanup(server.Close)
	return server.URL, deliveries
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	old, now := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 40)
	notice := approval.Notice{
		ID: "ID", Tenant: "acme", Capability: "notes.purge", Title: "Purge", Level: "human", URL: pageURL + "/ID",
		DecideBy: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, test := range []struct {
		name     string
		statuses []int
		header   http.Header
		attempts int
		pauses   []time.Duration // the shortest; the longest is 5/3 of them
		err      string
	}{
		{"taken", []int{204}, nil, 1, nil, ""},
		{"taken at last", []int{500, 503, 200}, nil, 3, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond}, ""},
		{"never taken", []int{500}, nil, 6, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 12 * time.Second}, "attempt 6: the receiver answered 500"},
		{"asked to wait", []int{429, 200}, http.Header{"Retry-After": {"17"}}, 2, []time.Duration{17 * time.Second}, ""},
		{"asked to wait for ever", []int{429, 200}, http.Header{"Retry-After": {"99999999999"}}, 2, []time.Duration{750 * time.Millisecond}, ""},
		{"refused", []int{401}, nil, 1, nil, "attempt 1: the receiver answered 401"},
		{"sent elsewhere", []int{302}, http.Header{"Location": {"/other"}}, 1, nil, "attempt 1: the receiver answered 302"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url, got := receiver(t, test.header, test.statuses...)
			webhook, err := approval.NewWebhook(approval.WebhookOptions{URL: url, Secrets: [][]byte{now, old}, Loopback: true})
			if err != nil {
				t.Fatal(err)
			}
			var pauses []time.Duration
			approval.SetPause(webhook, func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil })
			err = webhook.Notify(t.Context(), notice)
			if (err == nil) != (test.err == "") || err != nil && !strings.HasSuffix(err.Error(), test.err) {
				t.Errorf("want the error %q, got %v", test.err, err)
			}
			if len(got) != test.attempts {
				t.Errorf("want %d attempts, got %d", test.attempts, len(got))
			}
			for i, least := range test.pauses {
				if i >= len(pauses) || pauses[i] < least || pauses[i] > least*5/3+30*time.Second*time.Duration(len(test.header)) {
					t.Errorf("pause %d: want %s or a little more, got %v", i, least, pauses)
				}
			}
			names := map[string]bool{}
			for range len(got) {
				d := <-got
				names[d.header.Get(approval.DeliveryHeader)] = true
				signature := d.header.Get(approval.SignatureHeader)
				for _, secret := range [][]byte{old, now} {
					if !signed(secret, signature, d.body, time.Now()) {
						t.Errorf("want it signed, got %q", signature)
					}
				}
				if signed(bytes.Repeat([]byte{3}, 32), signature, d.body, time.Now()) || signed(now, signature, append(d.body, ' '), time.Now()) || signed(now, signature, d.body, time.Now().Add(time.Hour)) {
					t.Error("want the signature to hold for its secret, body and time alone")
				}
				var body map[string]any
				if err := json.Unmarshal(d.body, &body); err != nil {
					t.Fatal(err)
				}
				want := map[string]any{
					"id": "ID", "tenant": "acme", "capability": "notes.purge", "title": "Purge", "level": "human", "url": pageURL + "/ID",
					"decideBy": "2027-01-02T03:04:05Z",
				}
				if diff := cmp.Diff(want, body); diff != "" {
					t.Errorf("body (-want +got):\n%s", diff)
				}
			}
			if len(names) != 1 {
				t.Errorf("want one name for all attempts, got %d", len(names))
			}
		})
	}
}

func TestWebhookEndsWithItsContext(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, nil, 500)
	webhook, err := approval.NewWebhook(approval.WebhookOptions{URL: url, Secrets: [][]byte{bytes.Repeat([]byte{1}, 32)}, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- webhook.Notify(ctx, approval.Notice{}) }()
	<-got
	cancel()
	if err := <-ended; err == nil || ctx.Err() == nil {
		t.Errorf("want an error, got %v", err)
	}
}

func TestNewWebhook(t *testing.T) {
	t.Parallel()
	good := [][]byte{bytes.Repeat([]byte{1}, 32)}
	for _, test := range []struct {
		name string
		o    approval.WebhookOptions
		want string // part of the error; "" for none
	}{
		{"all", approval.WebhookOptions{URL: "https://hooks.example.com/ambit", Secrets: good}, ""},
		{"another port", approval.WebhookOptions{URL: "https://hooks.example.com:8443/ambit", Secrets: good}, ""},
		{"no address", approval.WebhookOptions{Secrets: good}, "WebhookOptions.URL"},
		{"no TLS", approval.WebhookOptions{URL: "http://hooks.example.com/", Secrets: good}, "only https"},
		{"an address inside", approval.WebhookOptions{URL: "https://10.0.0.7/", Secrets: good}, "not a public address"},
		{"this machine", approval.WebhookOptions{URL: "http://127.0.0.1:8080/", Secrets: good}, "only https"},
		{"no secret", approval.WebhookOptions{URL: "https://hooks.example.com/"}, "WebhookOptions.Secrets is missing"},
		{"a short secret", approval.WebhookOptions{URL: "https://hooks.example.com/", Secrets: [][]byte{good[0], []byte("short")}}, "secret 2 has 5 bytes"},
	} {
		_, err := approval.NewWebhook(test.o)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: want an error with %q, got %v", test.name, test.want, err)
		}
	}
}

// Whoever is told learns of what waits for a person, once, and of nothing else;
// neither a slow notifier nor a broken one is in the way of a call.
func TestNotices(t *testing.T) {
	t.Parallel()
	told := make(chan approval.Notice, 100)
	n := newNotes(t, approval.Options{Notifiers: []approval.Notifier{
		approval.NotifierFunc(func(context.Context, approval.Notice) error { panic("broken") }),
		approval.NotifierFunc(func(ctx context.Context, _ approval.Notice) error { <-ctx.Done(); return ctx.Err() }),
		approval.NotifierFunc(func(_ context.Context, notice approval.Notice) error { told <- notice; return errors.New("logged") }),
	}})
	alice, bob := n.person("alice"), n.person("bob")
	var want []string
	for i := range 3 {
		id := n.ask(alice, "notes.purge", fmt.Sprint("old", i))
		n.ask(alice, "notes.purge", fmt.Sprint("old", i))
		n.ask(alice, "notes.confirm", fmt.Sprint("old", i))
		want = append(want, id)
	}
	reopened := n.ask(alice, "notes.purge_all", "old")
	n.must(n.decide(bob, reopened, approval.Approve))
	n.allow(bob, "notes:purge")
	n.ask(alice, "notes.purge_all", "old")
	want = append(want, reopened, reopened)
	var got []string
	for range want {
		notice := <-told
		got = append(got, notice.ID)
		if notice.URL != pageURL+"/"+notice.ID || notice.Title != "Purge a folder" || notice.DecideBy.IsZero() {
			t.Errorf("want the title, the address and the time, got %+v", notice)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.approvals.Close(ctx); err == nil {
		t.Error("closing while a notifier hangs: want an error")
	}
	n.ask(alice, "notes.purge", "after closing")
	if len(told) != 0 {
		t.Error("want nobody told after closing")
	}
}

// More notices than a notifier can take are dropped and logged, and what was
// taken is passed on before Close returns.
func TestNoticesOverflow(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	begun, release := make(chan struct{}, 1000), make(chan struct{})
	passed := 0
	n := newNotes(t, approval.Options{
		Logger: logTo(&log), Caps: approval.Caps{Requester: 1000},
		Notifiers: []approval.Notifier{approval.NotifierFunc(func(context.Context, approval.Notice) error {
			begun <- struct{}{}
			<-release
			passed++
			return nil
		})},
	})
	alice := n.person("alice")
	n.ask(alice, "notes.purge", "first")
	<-begun
	for i := range 300 {
		n.ask(alice, "notes.purge", fmt.Sprint(i))
	}
	close(release)
	n.must(n.approvals.Close(t.Context()))
	if want := 1 + 256; passed != want {
		t.Errorf("want %d passed on, got %d", want, passed)
	}
	if got := strings.Count(log.String(), "too many notices are under way"); got != 1 {
		t.Errorf("want one line about the rest, got %d:\n%s", got, log.String())
	}
}
