package ambit_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

func ring(t *testing.T, text string) *ambit.KeyRing {
	t.Helper()
	r, err := ambit.ParseKeyRing(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestT24_SealedForOnePurpose(t *testing.T) {
	t.Parallel()
	r := ring(t, ambit.NewKey())
	sealed := r.Sealer("confirm", "notes").Seal([]byte("x"), []byte("plain"), []byte("bound"))
	if sealed[0] != 'x' {
		t.Fatal("Seal does not append")
	}
	sealed = sealed[1:]
	for _, tt := range []struct {
		name   string
		sealer *ambit.Sealer
		sealed []byte
		bound  string
		ok     bool
	}{
		{"as it was", r.Sealer("confirm", "notes"), sealed, "bound", true},
		{"another purpose", r.Sealer("cursor", "notes"), sealed, "bound", false},
		{"another application", r.Sealer("confirm", "other"), sealed, "bound", false},
		{"purpose and application run together", r.Sealer("confirmn", "otes"), sealed, "bound", false},
		{"bound to something else", r.Sealer("confirm", "notes"), sealed, "bound!", false},
		{"changed", r.Sealer("confirm", "notes"), append(bytes.Clone(sealed[:len(sealed)-1]), sealed[len(sealed)-1]^1), "bound", false},
		{"cut", r.Sealer("confirm", "notes"), sealed[:20], "bound", false},
		{"empty", r.Sealer("confirm", "notes"), nil, "bound", false},
		{"another ring", ring(t, ambit.NewKey()).Sealer("confirm", "notes"), sealed, "bound", false},
	} {
		got, err := tt.sealer.Open(nil, tt.sealed, []byte(tt.bound))
		if (err == nil) != tt.ok || tt.ok && string(got) != "plain" {
			t.Errorf("%s: got %q and %v", tt.name, got, err)
		}
	}
}

func TestT24_RetiredKeysOpenUntilTheirDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which begins on 2000-01-01
		older, newer := ambit.NewKey(), ambit.NewKey()
		sealed := ring(t, older).Sealer("p", "a").Seal(nil, []byte("plain"), nil)
		rotated := ring(t, newer+",\n "+older+";until=2000-01-02")
		opens := func() bool { _, err := rotated.Sealer("p", "a").Open(nil, sealed, nil); return err == nil }
		if !opens() {
			t.Error("a retired key does not open before its date")
		}
		if _, err := ring(t, older).Sealer("p", "a").Open(nil, rotated.Sealer("p", "a").Seal(nil, []byte("x"), nil), nil); err == nil {
			t.Error("the retired key still seals")
		}
		if got := len(rotated.Derive("p", "a", time.Now())); got != 2 {
			t.Errorf("derived: want 2, got %d", got)
		}
		time.Sleep(48 * time.Hour)
		if opens() {
			t.Error("a retired key opens after its date")
		}
		if got := len(rotated.Derive("p", "a", time.Now())); got != 1 {
			t.Errorf("derived: want 1, got %d", got)
		}
	})
}

func TestT24_RingIsChecked(t *testing.T) {
	t.Parallel()
	good := ambit.NewKey()
	short := base64.RawURLEncoding.EncodeToString(make([]byte, 31))
	for text, want := range map[string]string{
		"": "needs a key", " , ": "needs a key", short: "has 31 bytes", good + "," + good: "stands in it twice",
		good + "=": "not base64url", "secret!": "not base64url", good + ";until=2027-01-31": "the first key",
		good + "," + ambit.NewKey() + ";until=tomorrow": "its date",
	} {
		_, err := ambit.ParseKeyRing(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error that says %q, got %v", text, want, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), strings.Split(text, ",")[0]) && len(text) > 10 {
			t.Errorf("the error shows a key: %v", err)
		}
	}
}

// Instances with the same keys take each other's cursors; those of another
// application, another principal or another ring are none.
func TestT24_CursorsOfOneRing(t *testing.T) {
	t.Parallel()
	keys := newRing()
	page := func(name string, keys *ambit.KeyRing, who *ambit.Principal, cursor string) (string, error) {
		second := echoSpec()
		second.Name = "echo.again"
		app := newApp(ambit.Options{Name: name, Keys: keys}, ambit.Define(echoSpec(), echo), ambit.Define(second, echo))
		catalog, err := app.Catalog(ambit.HTTP, func(c ambit.AnyContract) ([]byte, error) { return []byte(c.Name()), nil })
		if err != nil {
			t.Fatal(err)
		}
		ctx, run := begin(t, app, who, ambit.HTTP)
		text, next, err := catalog.Page(ctx, run, nil, cursor, 1)
		if cursor == "" {
			return next, err
		}
		return string(text), err
	}
	cursor, err := page("test", keys, alice, "")
	if err != nil || cursor == "" {
		t.Fatalf("want a cursor, got %q, %v", cursor, err)
	}
	if got, err := page("test", keys, alice, cursor); err != nil || got != "echo.again" {
		t.Errorf("on another instance: want the second page, got %q, %v", got, err)
	}
	for name, try := range map[string]func() (string, error){
		"another application": func() (string, error) { return page("other", keys, alice, cursor) },
		"another principal":   func() (string, error) { return page("test", keys, bob, cursor) },
		"another ring":        func() (string, error) { return page("test", newRing(), alice, cursor) },
		"no ring":             func() (string, error) { return page("test", nil, alice, cursor) },
	} {
		if _, err := try(); ambit.CodeOf(err) != ambit.CodeInvalidInput {
			t.Errorf("%s: want invalid_input, got %v", name, err)
		}
	}
	if sealer := newApp(ambit.Options{}).Sealer("state"); sealer != nil {
		t.Error("without keys: want no sealer for surfaces")
	}
	if sealer := newApp(ambit.Options{Keys: keys}).Sealer("state"); sealer == nil {
		t.Error("with keys: want a sealer for surfaces")
	}
}

// Keys that somebody prints do not show: neither with a verb for values, nor for
// bytes, nor in a log.
func TestT09_KeysDoNotShow(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{0x5a}, ambit.MinKey)
	key := ambit.Key{Secret: secret, Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)}
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	seals, opens := ambit.NewReviewKey()
	review, err := ambit.ParseReviewKeys(opens)
	if err != nil {
		t.Fatal(err)
	}
	private, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(opens, "ambit_opens."))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		value  any
		secret []byte
		want   string
	}{
		{key, secret, "a key until 2027-01-31T00:00:00Z"},
		{ring, secret, "a ring of 1 key"},
		{(*ambit.KeyRing)(nil), secret, "a ring of 0 keys"},
		{review, private, "review keys " + seals[:len("ambit_seals.")+8] + "…"},
		{(*ambit.ReviewKeys)(nil), private, "review keys "},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
			if got := fmt.Sprintf(verb, test.value); got != test.want {
				t.Errorf("%s: want %q, got %q", verb, test.want, got)
			}
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("started", "keys", test.value)
		if said := log.String(); !strings.Contains(said, test.want) || strings.Contains(said, fmt.Sprint(test.secret[0], test.secret[1])) {
			t.Errorf("the log: want %q, got %s", test.want, said)
		}
	}
}
