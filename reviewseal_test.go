package ambit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// The database and the whole configuration of a process that runs agents' work
// open nothing that another process has sealed: it takes the half that opens.
func TestT24_AgentsProcessesOpenNothing(t *testing.T) {
	t.Parallel()
	ring := newRing()
	seals, opens := ambit.NewReviewKey()
	otherSeals, otherOpens := ambit.NewReviewKey()
	process := func(ring *ambit.KeyRing, keys string, log *bytes.Buffer) *purging {
		return newPurging(func(o *ambit.Options, _ *ambit.Spec) {
			o.Keys = ring
			if keys != "" {
				o.ReviewKeys = reviewKeys(t, keys)
			}
			if log != nil {
				o.Logger = slog.New(slog.NewTextHandler(log, nil))
			}
		})
	}
	agents := process(ring, seals, nil)
	if got := ambit.CodeOf(agents.ask(t)); got != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %q", got)
	}
	stolen := agents.last
	const (
		here    = "Options.ReviewKeys has no half that opens"
		missing = "it is sealed for the review key "
	)
	for _, test := range []struct {
		name string
		ring *ambit.KeyRing
		keys string
		want ambit.Code
		log  string // says why, to the operator
	}{
		{"who decides", ring, opens, "", ""},
		{"who decides, after a change", ring, otherSeals + "," + opens + ";until=2999-01-01", "", ""},
		{"the same process, started again", ring, seals, ambit.CodeConfirmationUnavailable, here + ", so that nobody decides in this process: decide in one that has it, or give this one the half ambit_opens. of " + seals[:20] + "…"},
		{"the ring alone", ring, "", ambit.CodeConflict, missing + seals[:20]},
		{"the half of another key", ring, otherOpens, ambit.CodeConflict, missing + seals[:20]},
		{"that one and the half that seals", ring, seals + "," + otherOpens, ambit.CodeConflict, missing + seals[:20]},
		{"the half that opens, without the ring", newRing(), opens, ambit.CodeConflict, "its key is no longer in Options.Keys or Options.ReviewKeys"},
	} {
		var log bytes.Buffer
		p := process(test.ring, test.keys, &log)
		_, reviewed := p.Review(t.Context(), stolen)
		_, last := p.LastReview(t.Context(), stolen)
		if got := ambit.CodeOf(reviewed); got != test.want {
			t.Errorf("%s: reviewed: want %q, got %v", test.name, test.want, reviewed)
		}
		if got := ambit.CodeOf(last); got != test.want {
			t.Errorf("%s: what was shown last: want %q, got %v", test.name, test.want, last)
		}
		if got := p.Summary(stolen); (got == "Delete 3 notes") != (test.want == "") || test.want != "" && got != "" {
			t.Errorf("%s: got the summary %q", test.name, got)
		}
		if strings.Count(log.String(), test.log) < 2 && test.want != "" {
			t.Errorf("%s: want the log to say %q twice, got\n%s", test.name, test.log, log.String())
		}
		if text := log.String(); strings.Contains(text, seals) || strings.Contains(text, opens[12:]) {
			t.Errorf("%s: the log shows a key:\n%s", test.name, text)
		}
		if test.want == ambit.CodeConfirmationUnavailable && !strings.Contains(reviewed.Error(), "This process has no key that opens proposals.") {
			t.Errorf("%s: got the message %q", test.name, reviewed)
		}
	}
	operation := stolen.Binding.Operation()
	for keys, can := range map[string]bool{seals: false, opens: true} {
		if _, err := ambit.NewShownSealer(ring, reviewKeys(t, keys), "input", agents.Name()).Open(stolen.Input, operation[:]); (err == nil) != can {
			t.Errorf("around App.Review, with %s: want it opened: %t, got %v", keys[:12], can, err)
		}
	}
}

// What was sealed before there were review keys opens where persons decide, and
// not in a process of agents' work.
func TestT24_WhatTheRingSealedBefore(t *testing.T) {
	t.Parallel()
	ring := newRing()
	seals, opens := ambit.NewReviewKey()
	process := func(keys *ambit.ReviewKeys) *purging {
		return newPurging(func(o *ambit.Options, _ *ambit.Spec) { o.Keys, o.ReviewKeys = ring, keys })
	}
	before := process(nil)
	_ = before.ask(t)
	if got := process(reviewKeys(t, opens)).Summary(before.last); got != "Delete 3 notes" {
		t.Errorf("where persons decide: want the summary, got %q", got)
	}
	if _, err := process(reviewKeys(t, opens)).Review(t.Context(), before.last); err != nil {
		t.Errorf("where persons decide: want a review, got %v", err)
	}
	agents := process(reviewKeys(t, seals))
	if _, err := agents.LastReview(t.Context(), before.last); ambit.CodeOf(err) != ambit.CodeConfirmationUnavailable || agents.Summary(before.last) != "" {
		t.Errorf("where nobody does: want nothing, got %v", err)
	}
}

// A process can seal whatever it likes, for it has the ring and the half that
// seals; an input that is not the one of the call is shown to nobody all the same.
func TestT24_AnotherInputIsNotShown(t *testing.T) {
	t.Parallel()
	seals, opens := ambit.NewReviewKey()
	p := newPurging(func(o *ambit.Options, _ *ambit.Spec) { o.ReviewKeys = reviewKeys(t, opens) })
	_ = p.ask(t)
	operation := p.last.Binding.Operation()
	forger := ambit.NewShownSealer(p.ring, reviewKeys(t, seals), "input", p.Name())
	for input, want := range map[string]ambit.Code{
		`{"before":"2020","password":"hunter22"}`: "",
		`{"before":"1970","password":"hunter22"}`: ambit.CodeConflict,
	} {
		p.last.Input = forger.Seal([]byte("["+input+",null]"), operation[:])
		if _, err := p.Review(t.Context(), p.last); ambit.CodeOf(err) != want {
			t.Errorf("%s: want %q, got %v", input, want, err)
		}
	}
}

func TestT24_ReviewKeysNeedTheRing(t *testing.T) {
	t.Parallel()
	seals, _ := ambit.NewReviewKey()
	for _, test := range []struct {
		name string
		o    ambit.Options
		want string
	}{
		{"both", ambit.Options{Keys: newRing(), ReviewKeys: reviewKeys(t, seals)}, ""},
		{"no ring", ambit.Options{ReviewKeys: reviewKeys(t, seals)}, "ambit: Options.ReviewKeys is set and Options.Keys is not, which seals proposals as well: set it"},
		{"a zero value", ambit.Options{Keys: newRing(), ReviewKeys: &ambit.ReviewKeys{}}, "ambit: Options.ReviewKeys holds no key: make it with ambit.ParseReviewKeys"},
	} {
		err := newApp(test.o).Freeze()
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: want %q, got %v", test.name, test.want, err)
		}
	}
}

// Sealed for one purpose, application and operation, by a key of an hour.
func TestT24_SealedForReview(t *testing.T) {
	t.Parallel()
	ring := newRing()
	_, opens := ambit.NewReviewKey()
	keys := reviewKeys(t, opens)
	bound := []byte("bound")
	sealed := ambit.NewShownSealer(ring, keys, "input", "notes").Seal([]byte("plain"), bound)
	for _, test := range []struct {
		name                 string
		purpose, application string
		change               func([]byte) []byte
		bound                string
		ok                   bool
	}{
		{"as it was", "input", "notes", nil, "bound", true},
		{"another purpose", "summary", "notes", nil, "bound", false},
		{"another application", "input", "other", nil, "bound", false},
		{"another operation", "input", "notes", nil, "bounds", false},
		{"another mark", "input", "notes", func(b []byte) []byte { b[0]++; return b }, "bound", false},
		{"another key", "input", "notes", func(b []byte) []byte { b[4]++; return b }, "bound", false},
		{"another encapsulated key", "input", "notes", func(b []byte) []byte { b[10]++; return b }, "bound", false},
		{"none", "input", "notes", func(b []byte) []byte { clear(b[10:42]); return b }, "bound", false},
		{"another text", "input", "notes", func(b []byte) []byte { b[len(b)-1]++; return b }, "bound", false},
		{"no text", "input", "notes", func(b []byte) []byte { return b[:42] }, "bound", false},
		{"nothing", "input", "notes", func([]byte) []byte { return nil }, "bound", false},
	} {
		text := bytes.Clone(sealed)
		if test.change != nil {
			text = test.change(text)
		}
		s := ambit.NewShownSealer(ring, keys, test.purpose, test.application)
		got, err := s.Open(text, []byte(test.bound))
		if (err == nil) != test.ok || test.ok && string(got) != "plain" {
			t.Errorf("%s: want it opened: %t, got %q, %v", test.name, test.ok, got, err)
		}
		if kept := s.Opened() == 1; kept != test.ok {
			t.Errorf("%s: want it kept where it opens: %t, got %t", test.name, test.ok, kept)
		}
	}
}

// One key agreement opens all that a process seals in an hour, and what is kept
// of them is bounded.
func TestT24_EncapsulatedKeysAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := newRing()
		seals, opens := ambit.NewReviewKey()
		sealing := reviewKeys(t, seals)
		process := func() ambit.ShownSealer { return ambit.NewShownSealer(ring, sealing, "summary", "test") }
		decider := ambit.NewShownSealer(ring, reviewKeys(t, opens), "summary", "test")
		first := process()
		var hour [][]byte
		for range 50 {
			hour = append(hour, first.Seal([]byte("one of 50"), nil))
			time.Sleep(time.Minute)
		}
		for i, sealed := range hour {
			if _, err := decider.Open(sealed, nil); err != nil || decider.Opened() != 1 {
				t.Fatalf("%d of an hour: want 1 key kept, got %d, %v", i, decider.Opened(), err)
			}
		}
		time.Sleep(10 * time.Minute)
		if _, err := decider.Open(first.Seal([]byte("the next hour"), nil), nil); err != nil || decider.Opened() != 2 {
			t.Errorf("the next hour: want 2 keys kept, got %d, %v", decider.Opened(), err)
		}
		for range ambit.MaxEncapsulated + 10 {
			if _, err := decider.Open(process().Seal([]byte("another process"), nil), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := decider.Opened(); got != ambit.MaxEncapsulated {
			t.Errorf("many processes: want %d keys kept, got %d", ambit.MaxEncapsulated, got)
		}
		if _, err := decider.Open(hour[0], nil); err != nil {
			t.Errorf("what was forgotten: want it opened again, got %v", err)
		}
	})
}

// A line of a list costs no key agreement, but for the first of a process.
func TestT24_OpeningAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	_, opens := ambit.NewReviewKey()
	s := ambit.NewShownSealer(newRing(), reviewKeys(t, opens), "summary", "test")
	plain := []byte("Delete 3 notes for good")
	sealed := s.Seal(plain, nil)
	if got := testing.AllocsPerRun(100, func() {
		if _, err := s.Open(sealed, nil); err != nil {
			t.Fatal(err)
		}
	}); got > 3 {
		t.Errorf("opening: want at most 3 allocations, got %v", got)
	}
	if got := testing.AllocsPerRun(100, func() { s.Seal(plain, nil) }); got > 3 {
		t.Errorf("sealing: want at most 3 allocations, got %v", got)
	}
}

// FuzzOpenForReview shows that no bytes open that the ring and the review keys have
// not sealed, and that nothing is kept of them.
func FuzzOpenForReview(f *testing.F) {
	ring := newRing()
	_, opens := ambit.NewReviewKey()
	keys := reviewKeys(f, opens)
	known := ambit.NewShownSealer(ring, keys, "input", "test")
	sealed := known.Seal([]byte("plain"), []byte("other"))
	if _, err := known.Open(sealed, []byte("other")); err != nil {
		f.Fatal(err)
	}
	fresh := ambit.NewShownSealer(ring, keys, "input", "test")
	f.Add(sealed)
	f.Add(sealed[:42])
	f.Add(append(bytes.Clone(sealed[:10]), make([]byte, 64)...))
	f.Add([]byte("arv1"))
	f.Fuzz(func(t *testing.T, foreign []byte) {
		for _, s := range []ambit.ShownSealer{known, fresh} {
			if plain, err := s.Open(foreign, []byte("bound")); err == nil {
				t.Errorf("want it refused, got %q", plain)
			}
		}
		if known.Opened() != 1 || fresh.Opened() != 0 {
			t.Errorf("want nothing kept, got %d and %d", known.Opened()-1, fresh.Opened())
		}
	})
}

func BenchmarkSealForReview(b *testing.B) { benchmarkShown(b, false) }

func BenchmarkOpenForReview(b *testing.B) { benchmarkShown(b, true) }

func benchmarkShown(b *testing.B, open bool) {
	ring := newRing()
	_, opens := ambit.NewReviewKey()
	plain, bound := bytes.Repeat([]byte("x"), 500), make([]byte, 32)
	for _, test := range []struct {
		name string
		keys *ambit.ReviewKeys
	}{{"ring", nil}, {"review keys", reviewKeys(b, opens)}} {
		s := ambit.NewShownSealer(ring, test.keys, "input", "test")
		sealed := s.Seal(plain, bound)
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !open {
					s.Seal(plain, bound)
				} else if _, err := s.Open(sealed, bound); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	if open {
		keys := reviewKeys(b, opens)
		sealed := ambit.NewShownSealer(ring, keys, "input", "test").Seal(plain, bound)
		b.Run("the first of a process", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ambit.NewShownSealer(ring, keys, "input", "test").Open(sealed, bound); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
