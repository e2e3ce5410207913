package approval_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// inOrder fails unless a text has these parts, in this order.
func inOrder(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("%s: want %q in order, %q is not there or comes too early in:\n%s", what, parts, part, text)
			return
		}
		rest = after
	}
}

// What would change is the first thing that a person reads, before who asks and
// the input.
func TestPageBeginsWithWhatWouldChange(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	bob := s.person("bob")
	id := s.ask(s.person("alice"), "notes.purge", "old")
	text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(bob, "1m")))
	inOrder(t, "the page", text, "</h1>", "destructive", "What would change", "Delete 3 notes for good", "Roadmap", "Requested by", "Complete input", "in the caller’s words")
}

// A proposal that is over shows what was decided about, whatever has become of
// that since.
func TestPageKeepsWhatWasDecided(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		end  func(s *website, alice, bob *ambit.Principal, id string)
		want []string // on the page
		line string   // on the terminal
	}{
		{"made", func(s *website, alice, bob *ambit.Principal, id string) {
			s.must(s.decide(bob, id, approval.Approve))
			if failure := s.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil {
				t.Fatal(failure)
			}
		}, []string{"succeeded", "What was approved", "Delete 3 notes for good", "Roadmap", "v:3 notes", "Ended", "Complete input", "&#34;old&#34;"}, "Was approved: Delete 3 notes for good\n"},
		{"denied", func(s *website, _, bob *ambit.Principal, id string) {
			s.must(s.decide(bob, id, approval.Deny))
		}, []string{"denied", "What would have changed", "Delete 3 notes for good", "Roadmap", "Ended"}, "Would have changed: Delete 3 notes for good\n"},
		{"lost", func(s *website, _, bob *ambit.Principal, id string) {
			s.must(s.decide(bob, id, approval.Approve))
			s.lose(id)
		}, []string{"unknown", "What was approved", "Delete 3 notes for good", "Began"}, "Was approved: Delete 3 notes for good\n"},
		{"made of what it had become", func(s *website, alice, bob *ambit.Principal, id string) {
			stale := s.form(bob, id, approval.Approve)
			s.fill("4 notes")
			answer := s.send(http.MethodPost, "/approvals/"+id, stale.Encode(), session(bob, "1m"))
			inOrder(s.t, "after the change", s.text(answer), "no longer what you saw", "What would change", "Delete 4 notes for good", "Requested by")
			s.must(s.decide(bob, id, approval.Approve))
			if failure := s.call(alice, "notes.purge", shelfInput{Folder: "old"}, ""); failure != nil {
				t.Fatal(failure)
			}
		}, []string{"succeeded", "What was approved", "Delete 4 notes for good", "v:4 notes"}, "Was approved: Delete 4 notes for good\n"},
	} {
		s := newWebsite(t)
		alice, bob := s.person("alice"), s.person("bob")
		id := s.ask(alice, "notes.purge", "old")
		test.end(s, alice, bob, id)
		s.fill("9 notes")
		text := s.text(s.send(http.MethodGet, "/approvals/"+id, "", session(bob, "1m")))
		inOrder(t, test.name, text, test.want...)
		view, err := s.approvals.View(t.Context(), s.app, bob, id)
		s.must(err)
		if got := view.String(); !strings.Contains(got, test.line) || strings.Contains(got, "9 notes") {
			t.Errorf("%s: want %q on the terminal, got:\n%s", test.name, test.line, got)
		}
	}
}

// Calls of one capability by one person are told apart in the list.
func TestPageListsWhatWouldChange(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice, bob := s.person("alice"), s.person("bob")
	s.ask(alice, "notes.purge", "a")
	s.fill("4 <b>notes</b>\u202e")
	s.ask(alice, "notes.purge", "b")
	s.fill("9 notes")
	text := s.text(s.send(http.MethodGet, "/approvals/", "", session(bob, "1m")))
	inOrder(t, "the list", text, `Delete 4 &lt;b&gt;notes&lt;/b&gt;\u202e for good`, "Delete 3 notes for good")
}

// Whoever finds nothing finds the way back.
func TestPageProblemsLeadBack(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	text := s.text(s.send(http.MethodGet, "/approvals/unknown", "", session(s.person("bob"), "1m")))
	inOrder(t, "the page", text, "There is no such proposal.", `href="/approvals/"`, "All proposals")
}
