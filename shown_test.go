package ambit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// What was allowed stays with the proposal: nothing is computed to show it, it
// says what it was of, and it is read by nobody without the keys.
func TestT16_WhatWasShownStays(t *testing.T) {
	t.Parallel()
	p := newPurging(nil)
	if got := ambit.CodeOf(p.ask(t)); got != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %q", got)
	}
	first := p.last
	p.preview = func(context.Context, purgeInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 4 notes", Version: "v8"}, nil
	}
	review, err := p.Review(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	second := review.Proposal
	p.preview = func(context.Context, purgeInput) (ambit.Preview, error) {
		return ambit.Preview{}, errors.New("the notes are gone")
	}
	p.resolve = func(*ambit.Principal) *ambit.Principal { return nil }
	for _, test := range []struct {
		name string
		of   ambit.Proposal
		want ambit.Preview
	}{
		{"as it was asked", first, ambit.Preview{Summary: "Delete 3 notes", Items: []ambit.PreviewItem{{ID: "1", Title: "One"}}, More: 2, Version: "v7"}},
		{"as it was seen later", second, ambit.Preview{Summary: "Delete 4 notes", Version: "v8"}},
	} {
		got, err := p.LastReview(t.Context(), test.of)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		want := ambit.Review{
			Capability: "notes.purge", Title: "Purge notes", Description: "Delete notes for good.", Effect: ambit.Destructive,
			Input: []byte(`{"before":"2020","password":"(secret)"}`), Preview: &test.want, Digest: test.of.Preview, Version: test.want.Version, Proposal: test.of,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if got := p.Summary(test.of); got != test.want.Summary {
			t.Errorf("%s: want the summary %q, got %q", test.name, test.want.Summary, got)
		}
		if kept := string(test.of.Input) + string(test.of.Summary); strings.Contains(kept, "Delete") || strings.Contains(kept, "hunter22") {
			t.Errorf("%s: want nothing to be read without the keys", test.name)
		}
	}
	ctx, run := p.NewRun(t.Context(), ambit.RunOptions{Principal: boss})
	defer run.End()
	if _, err := p.LastReview(ctx, first); ambit.CodeOf(err) != ambit.CodeNotFound {
		t.Errorf("within a run: want not_found, got %v", err)
	}
}

// What cannot be what was shown is not passed off as it.
func TestT14_WhatWasShownIsItsOwn(t *testing.T) {
	t.Parallel()
	altered := func(b []byte) []byte { b = slices.Clone(b); b[20]++; return b }
	for _, test := range []struct {
		name    string
		change  func(*ambit.Proposal)
		want    ambit.Code
		input   bool
		preview bool
		summary string
	}{
		{"unchanged", func(*ambit.Proposal) {}, "", true, true, "Delete 3 notes"},
		{"another input", func(p *ambit.Proposal) { p.Input = altered(p.Input) }, ambit.CodeConflict, false, false, "Delete 3 notes"},
		{"another summary", func(p *ambit.Proposal) { p.Summary = altered(p.Summary) }, "", true, true, ""},
		{"the one in place of the other", func(p *ambit.Proposal) { p.Input, p.Summary = p.Summary, p.Input }, ambit.CodeConflict, false, false, ""},
		{"none", func(p *ambit.Proposal) { p.Input, p.Summary = nil, nil }, ambit.CodeConflict, false, false, ""},
		{"another digest of the preview", func(p *ambit.Proposal) { p.Preview[0]++ }, "", true, false, "Delete 3 notes"},
		{"another call", func(p *ambit.Proposal) { p.Binding.Client = "other" }, ambit.CodeConflict, false, false, ""},
		{"another requester", func(p *ambit.Proposal) { p.Requester = alice }, ambit.CodeConflict, false, false, "Delete 3 notes"},
	} {
		p := newPurging(nil)
		_ = p.ask(t)
		test.change(&p.last)
		got, err := p.LastReview(t.Context(), p.last)
		if ambit.CodeOf(err) != test.want || (got.Input != nil) != test.input || (got.Preview != nil) != test.preview {
			t.Errorf("%s: want %q, input %t, preview %t, got %v, %+v", test.name, test.want, test.input, test.preview, err, got)
		}
		if summary := p.Summary(p.last); summary != test.summary {
			t.Errorf("%s: want the summary %q, got %q", test.name, test.summary, summary)
		}
	}
	keys := newRing()
	before := newPurging(func(o *ambit.Options, _ *ambit.Spec) { o.Keys = keys })
	_ = before.ask(t)
	after := newPurging(func(o *ambit.Options, s *ambit.Spec) { o.Keys, s.Revision = keys, "2" })
	if got, err := after.LastReview(t.Context(), before.last); err != nil || got.Input != nil || got.Preview == nil {
		t.Errorf("under another contract: want the preview without the input, got %v, %+v", err, got)
	}
}

// Where there is no preview, the line is how the input begins, without secrets.
func TestSummaryOfAnInput(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"2020":                    `{"before":"2020","password":"(secret)"}`,
		strings.Repeat("ä", 1000): `{"before":"` + strings.Repeat("ä", 143) + "…",
	} {
		p := newPurging(nil, ambit.Define(ambit.Spec{
			Name: "notes.shred", Description: "Shreds.", Effect: ambit.Destructive, Permission: "purge", Expose: ambit.HTTP, Approval: ambit.Human,
		}, func(context.Context, shredInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))
		ctx, run := p.NewRun(t.Context(), ambit.RunOptions{Principal: boss, Surface: ambit.HTTP})
		_, err := run.Invoke(ctx, ambit.Request{Name: "notes.shred", Input: []byte(`{"before":"` + before + `","password":"hunter22"}`)})
		run.End()
		if ambit.CodeOf(err) != ambit.CodeApprovalPending {
			t.Fatalf("want approval_pending, got %v", err)
		}
		got := p.Summary(p.last)
		if got != want || !utf8.ValidString(got) || len(got) > 300 {
			t.Errorf("want %q, got %q", want, got)
		}
		if review, err := p.LastReview(t.Context(), p.last); err != nil || review.Preview != nil {
			t.Errorf("want no preview, got %+v, %v", review.Preview, err)
		}
	}
}

type shredInput struct {
	Before   string `json:"before" maxLength:"2000"`
	Password string `json:"password,omitempty" secret:"true"`
}
