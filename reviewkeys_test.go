package ambit_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

func reviewKeys(t testing.TB, text string) *ambit.ReviewKeys {
	t.Helper()
	keys, err := ambit.ParseReviewKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestT24_ReviewKeysAreChecked(t *testing.T) {
	t.Parallel()
	seals, opens := ambit.NewReviewKey()
	other, _ := ambit.NewReviewKey()
	half := func(prefix string, n int) string {
		return prefix + base64.RawURLEncoding.EncodeToString(make([]byte, n))
	}
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "ambit: there is no review key: make one with NewReviewKey or the command approvals keygen, or leave Options.ReviewKeys nil"},
		{"separators", " ,\n", "ambit: there is no review key: make one with NewReviewKey or the command approvals keygen, or leave Options.ReviewKeys nil"},
		{"a key of a ring", ambit.NewKey(), "ambit: review key 1: it begins with neither ambit_seals. nor ambit_opens.: make one with NewReviewKey"},
		{"cut", seals + "," + other[:40], "ambit: review key 2: what follows its prefix is no key: copy it whole, as NewReviewKey made it"},
		{"padded", opens + "=", "ambit: review key 1: what follows its prefix is no key: copy it whole, as NewReviewKey made it"},
		{"a point that seals nothing", half("ambit_seals.", 32), "ambit: review key 1: what follows its prefix is no key: copy it whole, as NewReviewKey made it"},
		{"too short", half("ambit_opens.", 31), "ambit: review key 1: what follows its prefix is no key: copy it whole, as NewReviewKey made it"},
		{"too long", half("ambit_opens.", 33), "ambit: review key 1: what follows its prefix is no key: copy it whole, as NewReviewKey made it"},
		{"both halves", other + "," + seals + "\n" + opens, "ambit: review key 3: it is key 2, too: leave the half that opens, or one of two"},
		{"the one that seals, retired", seals + ";until=2027-01-31", "ambit: review key 1: the first key, which seals, has a date: put a newer key in front of it"},
		{"no date", other + "," + opens + ";until=soon", "ambit: review key 2: its date is not of the form 2027-01-31"},
	} {
		keys, err := ambit.ParseReviewKeys(test.text)
		if err == nil || err.Error() != test.want || keys != nil {
			t.Errorf("%s: want %q, got %v, %v", test.name, test.want, keys, err)
		}
	}
	for _, half := range []string{seals, opens} { // or one of 32 bytes would stand in for the other
		if _, err := ambit.ParseKeyRing(half); err == nil {
			t.Error("want a half refused as a key of a ring")
		}
	}
}

// A process has the halves that it was given, and can say which belong elsewhere.
func TestT24_HalvesOfReviewKeys(t *testing.T) {
	t.Parallel()
	seals, opens := ambit.NewReviewKey()
	older, olderOpens := ambit.NewReviewKey()
	for _, test := range []struct {
		name, text string
		opens      bool
		sealing    string
	}{
		{"the half that seals", seals, false, seals},
		{"the half that opens", opens, true, seals},
		{"two that seal", seals + " " + older, false, seals + "," + older},
		{"a mixture", seals + ",\n" + olderOpens + "\n", true, seals + "," + older},
		{"a retired one", opens + "," + olderOpens + ";until=2999-12-31", true, seals + "," + older + ";until=2999-12-31"},
		{"one past its date", seals + "," + olderOpens + ";until=1999-12-31", false, seals + "," + older + ";until=1999-12-31"},
	} {
		keys := reviewKeys(t, test.text)
		if keys.Opens() != test.opens || keys.Sealing() != test.sealing {
			t.Errorf("%s: want %t and %s, got %t and %s", test.name, test.opens, test.sealing, keys.Opens(), keys.Sealing())
		}
		if again := reviewKeys(t, keys.Sealing()); again.Opens() || again.Sealing() != test.sealing {
			t.Errorf("%s: want the halves that seal read back, got %s", test.name, again.Sealing())
		}
	}
	var none *ambit.ReviewKeys
	if none.Opens() || none.Sealing() != "" {
		t.Error("none: want nothing that opens or seals")
	}
}

// What is made for channels in which persons decide is made and read by processes
// with the half that opens alone, whoever has the ring.
func TestT24_ReviewSealerIsOfTheHalfThatOpens(t *testing.T) {
	t.Parallel()
	ring := newRing()
	seals, opens := ambit.NewReviewKey()
	newer, newerOpens := ambit.NewReviewKey()
	app := func(keys string) *ambit.App {
		o := ambit.Options{Name: "test", Keys: ring}
		if keys != "" {
			o.ReviewKeys = reviewKeys(t, keys)
		}
		return newApp(o)
	}
	form := app(opens).ReviewSealer("form").Seal(nil, []byte("yes"), nil)
	for _, test := range []struct {
		name, keys  string
		sealer, can bool
	}{
		{"the same", opens, true, true},
		{"after a change of keys", newerOpens + "," + opens + ";until=2999-01-01", true, true},
		{"before it, with the newer half that seals", newer + "," + opens, true, true},
		{"another key", newerOpens, true, false},
		{"the half that seals", seals, false, false},
		{"no review keys", "", true, false},
	} {
		sealer := app(test.keys).ReviewSealer("form")
		if (sealer != nil) != test.sealer {
			t.Errorf("%s: want a sealer: %t, got %v", test.name, test.sealer, sealer)
			continue
		}
		if sealer == nil {
			continue
		}
		if _, err := sealer.Open(nil, form, nil); (err == nil) != test.can {
			t.Errorf("%s: want it opened: %t, got %v", test.name, test.can, err)
		}
	}
	if _, err := app(opens).Sealer("form").Open(nil, form, nil); err == nil {
		t.Error("want nothing opened by what the ring makes")
	}
	if newApp(ambit.Options{}).ReviewSealer("form") != nil {
		t.Error("without keys: want no sealer")
	}
	last, _ := ambit.NewReviewKey()
	mixed := app(last+","+newerOpens+";until=2999-01-01,"+opens).ReviewSealer("form").Seal(nil, []byte("yes"), nil)
	if _, err := app(opens).ReviewSealer("form").Open(nil, mixed, nil); err != nil {
		t.Errorf("of several: want the half that lasts to seal, got %v", err)
	}
}

// What was sealed for a key that is retired by now opens until its date.
func TestT24_RetiredReviewKeysOpenUntilTheirDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which begins on 2000-01-01
		ring := newRing()
		older, olderOpens := ambit.NewReviewKey()
		newer, newerOpens := ambit.NewReviewKey()
		process := func(text string) ambit.ShownSealer {
			return ambit.NewShownSealer(ring, reviewKeys(t, text), "input", "test")
		}
		before := process(older).Seal([]byte("plain"), nil)
		after := process(newer+","+older+";until=2000-01-02").Seal([]byte("plain"), nil)
		decider := process(newerOpens + "," + olderOpens + ";until=2000-01-02")
		opens := func(s ambit.ShownSealer, sealed []byte) bool { _, err := s.Open(sealed, nil); return err == nil }
		if !opens(decider, before) || !opens(decider, after) {
			t.Error("want both opened before the date")
		}
		if opens(process(olderOpens), after) {
			t.Error("want the newer key to seal")
		}
		time.Sleep(48 * time.Hour)
		if opens(decider, before) { // of which the encapsulated key is known
			t.Error("want a retired key to open nothing after its date")
		}
		if !opens(decider, after) {
			t.Error("want the newer key to open")
		}
		lapsed := newApp(ambit.Options{Keys: ring, ReviewKeys: reviewKeys(t, newer+","+olderOpens+";until=2000-01-02")})
		if err := lapsed.CanReview(); err == nil || lapsed.ReviewSealer("form") != nil {
			t.Errorf("want a process whose half has lapsed to decide nothing, got %v", err)
		}
	})
}

// FuzzParseReviewKeys shows that what is taken is read back, and that no error
// shows what was not.
func FuzzParseReviewKeys(f *testing.F) {
	seals, opens := ambit.NewReviewKey()
	for _, seed := range []string{"", seals, opens, seals + "," + opens, opens + ";until=2027-01-31", "ambit_opens.", "ambit_seals.AAAA;until=", ";until=;until=", ambit.NewKey()} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ambit.ParseReviewKeys(text)
		if err != nil {
			for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \n\t\r;", r) }) {
				if len(field) > 40 && strings.Contains(err.Error(), field) {
					t.Errorf("the error shows what was parsed: %v", err)
				}
			}
			return
		}
		if again, err := ambit.ParseReviewKeys(keys.Sealing()); err != nil || again.Opens() || again.Sealing() != keys.Sealing() {
			t.Errorf("want the halves that seal read back, got %v", err)
		}
	})
}
