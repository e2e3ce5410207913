package storetest

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// together runs do n times at once and returns what they return.
func together[R any](n int, do func(i int) R) []R {
	results := make([]R, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			results[i] = do(i)
		})
	}
	close(start)
	all.Wait()
	return results
}

// raceTests let many ask at once.
func raceTests() []test {
	return []test{
		{"64 who prepare one call make one record", func(t *testing.T, b bench) {
			type answer struct {
				id      string
				created bool
				err     error
			}
			ids, made := make(map[string]bool), 0
			for _, a := range together(64, func(i int) answer {
				p := b.proposal("x", func(p *ambit.Proposal) { p.Key = digest(fmt.Sprint(i)) })
				r, created, err := b.Approvals.Propose(t.Context(), rand.Text(), p, approval.Caps{Requester: 1, Tenant: 1}, nil)
				return answer{r.ID, created, err}
			}) {
				if a.err != nil {
					t.Errorf("Propose: %v", a.err)
				}
				ids[a.id], made = true, made+count(a.created)
			}
			if len(ids) != 1 || made != 1 || len(b.list(t, approval.Filter{Tenant: b.tenant})) != 1 {
				t.Errorf("want one record made by one, got %d records, %d that made one", len(ids), made)
			}
		}},
		{"64 who prepare calls of their own stay within the caps", func(t *testing.T, b bench) {
			together(64, func(i int) error {
				_, _, err := b.Approvals.Propose(t.Context(), rand.Text(), b.proposal(fmt.Sprint(i)), approval.Caps{Requester: 5, Tenant: 7}, nil)
				return err
			})
			if got := len(b.list(t, approval.Filter{Tenant: b.tenant})); got != 5 {
				t.Errorf("want 5 records, got %d", got)
			}
		}},
		{"of 32 who decide, one wins", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x")).ID
			won := 0
			for i, changed := range together(32, func(i int) bool {
				verdict := approval.Approve
				if i%2 == 0 {
					verdict = approval.Deny
				}
				_, changed, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision(fmt.Sprint("person ", i), verdict), nil)
				if err != nil {
					t.Errorf("Decide: %v", err)
				}
				return changed
			}) {
				if won += count(changed); changed {
					want := []ambit.ProposalState{ambit.ProposalDenied, ambit.ProposalApproved}[i%2]
					b.state(t, id, want)
				}
			}
			if r := b.get(t, id); won != 1 || len(r.Decisions) != 1 {
				t.Errorf("want one decision, got %d that won and %d on record", won, len(r.Decisions))
			}
		}},
		{"a quorum of 5 is reached by 5 of 32, each once", func(t *testing.T, b bench) {
			id := b.propose(t, b.proposal("x", withQuorum(5))).ID
			together(32, func(i int) error {
				_, _, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision(fmt.Sprint("person ", i/2), approval.Approve), nil)
				return err
			})
			deciders := make(map[string]bool)
			r := b.get(t, id)
			for _, d := range r.Decisions {
				deciders[d.Decider] = true
			}
			if r.State != ambit.ProposalApproved || len(r.Decisions) != 5 || len(deciders) != 5 {
				t.Errorf("want it approved by 5, got %s with %d decisions by %d", r.State, len(r.Decisions), len(deciders))
			}
		}},
		{"of 100 calls that an approval allows, one runs", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			b.oneRuns(t, func(int) ambit.Claim { return claim(p, id) })
			b.stands(t, claim(p, id), ambit.ProposalSucceeded, "done")
		}},
		{"of 100 calls that were confirmed, one runs", func(t *testing.T, b bench) {
			p := b.proposal("x", atLevel(ambit.Confirm))
			id := b.propose(t, p).ID
			b.oneRuns(t, func(int) ambit.Claim { return claim(p, id) })
		}},
		{"of 100 calls with one key, one runs", func(t *testing.T, b bench) {
			b.oneRuns(t, func(int) ambit.Claim { return b.keyed("k", "x") })
			b.found(t, b.keyed("k", "x"), ambit.RecordFinished, "done")
		}},
		{"of 100 calls with one key and one approval, one runs", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			b.oneRuns(t, func(int) ambit.Claim {
				c := claim(p, id)
				c.Key = digest("key")
				return c
			})
		}},
		{"of 100 calls with keys of their own and one approval, one runs", func(t *testing.T, b bench) {
			p := b.proposal("x")
			id := b.approved(t, p).ID
			b.oneRuns(t, func(i int) ambit.Claim {
				c := claim(p, id)
				c.Key = digest(fmt.Sprint("key ", i))
				return c
			})
		}},
		{"revoked or run, never both", func(t *testing.T, b bench) {
			for i := range 20 {
				p := b.proposal(fmt.Sprint(i))
				id := b.approved(t, p).ID
				done := together(2, func(i int) bool {
					if i == 0 {
						_, revoked, err := b.Approvals.Decide(t.Context(), b.tenant, id, b.decision("ann", approval.Revoke), nil)
						return revoked && err == nil
					}
					r, err := b.Approvals.Claim(t.Context(), claim(p, id))
					return err == nil && r.Approval.ID == ""
				})
				if done[0] == done[1] {
					t.Errorf("want it either revoked or run, got %t and %t", done[0], done[1])
				}
			}
		}},
	}
}

// oneRuns makes 100 claims at once, each as a call does it, and checks that one
// of them was made and finished.
func (b bench) oneRuns(t *testing.T, claims func(i int) ambit.Claim) {
	t.Helper()
	ran := 0
	for _, won := range together(100, func(i int) bool {
		c := claims(i)
		r, err := b.Approvals.Claim(t.Context(), c)
		if err != nil {
			t.Errorf("Claim: %v", err)
			return false
		}
		if diff := cmp.Diff(ambit.Record{}, r); diff != "" {
			return false
		}
		if err := b.Approvals.Finish(t.Context(), c, ambit.Ending{Outcome: []byte("done")}); err != nil {
			t.Errorf("Finish: %v", err)
		}
		return true
	}) {
		ran += count(won)
	}
	if ran != 1 {
		t.Errorf("want one call to run, got %d", ran)
	}
}
