package approval_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// BenchmarkList measures what a list of 50 proposals costs beside its store: finding
// out what the person may decide about, opening their summaries, and writing the page.
func BenchmarkList(b *testing.B) {
	s := &website{notes: newNotesOn(b, memory.New(), approval.Options{Caps: approval.Caps{Requester: 50}})}
	s.open()
	robot, ann := s.person("robot", as(ambit.KindAgent)), s.person("ann")
	for i := range 50 {
		s.ask(robot, "notes.purge", fmt.Sprint("folder ", i))
	}
	filter := approval.Filter{States: []ambit.ProposalState{ambit.ProposalPending}}
	page, _, err := s.store.List(b.Context(), filter)
	s.must(err)
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			_, _, err := s.store.List(b.Context(), filter)
			s.must(err)
		}
	})
	b.Run("may decide", func(b *testing.B) {
		for b.Loop() {
			_, _, err := s.approvals.List(b.Context(), s.app, ann, filter)
			s.must(err)
		}
	})
	b.Run("summaries", func(b *testing.B) {
		for b.Loop() {
			for _, r := range page {
				if s.app.Summary(r.Proposal) == "" {
					b.Fatal("no summary")
				}
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if r := s.send(http.MethodGet, "/approvals", "", session(ann, "1m")); r.StatusCode != http.StatusOK {
				b.Fatal(r.Status)
			}
		}
	})
}
