package approval_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Whoever is shown a newer preview than the one that was asked with decides about
// that, the first time.
func TestT16_WhatIsShownIsDecided(t *testing.T) {
	t.Parallel()
	store := memory.New()
	log := newLog(t, store)
	n := newNotesOn(t, store, approval.Options{Audit: log})
	alice, bob := n.person("alice"), n.person("bob")
	id := n.ask(alice, "notes.purge", "old")
	n.fill("4 notes")
	view, err := n.approvals.View(t.Context(), n.app, bob, id)
	n.must(err)
	r, err := n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Approve, Preview: view.Seen()})
	if err != nil || r.State != ambit.ProposalApproved || r.Proposal.Preview != view.Seen() || r.Proposal.Version != "v:4 notes" || r.Decisions[0].Preview != view.Seen() {
		t.Errorf("want it approved with what was seen, got %v, %s of %q with %+v", err, r.State, r.Proposal.Version, r.Decisions)
	}
	var said []string
	entries, _, err := store.Entries(t.Context(), audit.Query{Proposal: id, Kind: audit.KindDecision})
	n.must(err)
	for _, e := range entries {
		record, err := e.Record()
		n.must(err)
		said = append(said, record.Verdict+" "+record.Version)
	}
	if want, got := "reconsider v:4 notes, approve v:4 notes", strings.Join(said, ", "); want != got {
		t.Errorf("on record: want %s, got %s", want, got)
	}
	if failure := n.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil || n.calls.Load() != 1 {
		t.Errorf("the call: want it made once, got %v and %d", failure, n.calls.Load())
	}
	if last, err := n.approvals.View(t.Context(), n.app, bob, id); err != nil || last.Review == nil || last.Review.Preview.Summary != "Delete 4 notes for good" {
		t.Errorf("afterwards: want what was approved, got %v, %+v", err, last.Review)
	}
}

// What has changed between showing and deciding decides nothing, also where the
// proposal has been asked with what is so now.
func TestT16_WhatIsNoLongerSoIsNotDecided(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		n := newNotes(t, approval.Options{})
		alice, bob := n.person("alice"), n.person("bob")
		id := n.ask(alice, "notes.purge", "old")
		n.fill("4 notes")
		view, err := n.approvals.View(t.Context(), n.app, bob, id)
		n.must(err)
		n.fill("5 notes")
		if asked {
			n.ask(alice, "notes.purge", "old")
		}
		_, err = n.approvals.Decide(t.Context(), n.app, bob, approval.Ruling{ID: id, Verdict: approval.Approve, Preview: view.Seen()})
		r, lost := n.store.Get(t.Context(), "", id)
		n.must(lost)
		if codeOf(err) != ambit.CodeConflict || r.State != ambit.ProposalPending || len(r.Decisions) != 0 || r.Proposal.Version != "v:5 notes" {
			t.Errorf("asked again %v: want %s and it pending with what is so now, got %v, %s of %q", asked, ambit.CodeConflict, err, r.State, r.Proposal.Version)
		}
	}
}

// Whoever has approved an earlier preview can approve the one of now, is told that
// their word was about another, and counts once.
func TestT16_EarlierWordsAreAboutEarlierPreviews(t *testing.T) {
	t.Parallel()
	n := newNotes(t, approval.Options{})
	bob, carol := n.person("bob"), n.person("carol")
	id := n.ask(n.person("alice"), "notes.purge_both", "old")
	n.must(n.decide(bob, id, approval.Approve))
	if got := codeOf(n.decide(bob, id, approval.Approve)); got != ambit.CodeConflict {
		t.Errorf("the same again: want %s, got %q", ambit.CodeConflict, got)
	}
	n.fill("4 notes")
	view, err := n.approvals.View(t.Context(), n.app, bob, id)
	n.must(err)
	if why := view.Objection(); why != nil || !strings.Contains(view.String(), "Approved an earlier preview by bob") {
		t.Errorf("want bob's word shown as one about an earlier preview, and no objection, got %v and\n%s", why, view)
	}
	for _, again := range []ambit.Code{"", ambit.CodeConflict} {
		if got := codeOf(n.decide(bob, id, approval.Approve)); got != again || n.state(id) != "pending" {
			t.Errorf("bob alone: want %q and it pending, got %q and %s", again, got, n.state(id))
		}
	}
	n.must(n.decide(carol, id, approval.Approve))
	if got := n.state(id); got != "approved" {
		t.Errorf("both about the one of now: want approved, got %s", got)
	}
}

// The page's form is about the preview that it shows, whether the requester asks
// again in the meantime or not.
func TestT16_FormsAreAboutWhatThePageShows(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		s := newWebsite(t)
		alice, bob := s.person("alice"), s.person("bob")
		id := s.ask(alice, "notes.purge", "old")
		s.fill("4 notes")
		form := s.form(bob, id, approval.Approve)
		if asked {
			s.ask(alice, "notes.purge", "old")
		}
		if answer := s.send(http.MethodPost, "/approvals/"+id, form.Encode(), session(bob, "1m")); answer.StatusCode != http.StatusSeeOther || s.state(id) != "approved" {
			t.Errorf("asked again %v: want it approved, got %d and %s", asked, answer.StatusCode, s.state(id))
		}
	}
}
