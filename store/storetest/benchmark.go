package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// Benchmark measures what a store costs a call: each phase of one that takes a
// person's word, a keyed one, an entry of the audit record, a shared rate, and a
// list while a thousand proposals wait.
func Benchmark(b *testing.B, stores Stores) {
	ctx, s, w := context.Background(), stores.Approvals, bench{stores, "acme"}
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	ask := func(p ambit.Proposal, id string) {
		_, _, err := s.Propose(ctx, id, p, approval.Caps{Tenant: 1_000_000}, nil)
		must(err)
	}
	propose := func() (ambit.Proposal, string) {
		p, id := w.proposal(rand.Text()), rand.Text()
		ask(p, id)
		return p, id
	}
	approve := func(id string) {
		_, _, err := s.Decide(ctx, w.tenant, id, w.decision("ann", approval.Approve), nil)
		must(err)
	}
	// phase measures the last of some steps and does those before with the clock
	// stopped.
	phase := func(name string, before func() func()) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				step := before()
				b.StartTimer()
				step()
			}
		})
	}
	phase("prepare", func() func() { return func() { propose() } })
	phase("prepare again", func() func() {
		p, _ := propose()
		p.Input = []byte("sealed anew")
		return func() { ask(p, rand.Text()) }
	})
	phase("decide", func() func() {
		_, id := propose()
		return func() { approve(id) }
	})
	phase("decide by a grant", func() func() {
		g, err := s.Give(ctx, w.grant(func(g *approval.Grant) { g.ID, g.Capability = rand.Text(), rand.Text() }), nil)
		must(err)
		p, id := w.proposal(rand.Text(), func(p *ambit.Proposal) { p.Binding.Capability = g.Capability }), rand.Text()
		ask(p, id)
		return func() {
			live, _, err := s.Grants(ctx, approval.GrantFilter{Tenant: g.Tenant, Principal: g.Principal, Capability: g.Capability, Live: true})
			must(err)
			_, changed, err := s.DecideByGrant(ctx, w.tenant, id, live[0].ID, p.Preview, nil)
			must(err)
			if !changed {
				b.Fatal("want the grant to count")
			}
		}
	})
	take := func(c ambit.Claim) {
		_, err := s.Claim(ctx, c)
		must(err)
	}
	finish := func(c ambit.Claim) { must(s.Finish(ctx, c, ambit.Ending{Outcome: make([]byte, 500)})) }
	claimed := func() ambit.Claim {
		p, id := propose()
		approve(id)
		return claim(p, id)
	}
	phase("claim", func() func() {
		c := claimed()
		return func() { take(c) }
	})
	phase("finish", func() func() {
		c := claimed()
		take(c)
		return func() { finish(c) }
	})
	phase("confirmed call", func() func() {
		p, id := w.proposal(rand.Text(), atLevel(ambit.Confirm)), rand.Text()
		c := claim(p, id)
		return func() { ask(p, id); take(c); finish(c) }
	})
	phase("keyed call", func() func() {
		c := w.keyed(rand.Text(), "x")
		return func() { take(c); finish(c) }
	})
	seq := uint64(0)
	phase("entry", func() func() {
		seq++
		e := w.entry("w", seq)
		return func() { must(stores.Audit.Append(ctx, e)) }
	})
	phase("rate", func() func() {
		return func() {
			_, err := stores.Rates.Take(ctx, "a", ambit.Rate{Calls: 1_000_000, Per: 1e9})
			must(err)
		}
	})

	w.tenant = "busy"
	for i := range 1000 {
		ask(w.proposal(fmt.Sprint(i)), rand.Text())
	}
	pending := approval.Filter{Tenant: w.tenant, States: []ambit.ProposalState{ambit.ProposalPending}}
	phase("first page of 1,000 pending", func() func() {
		return func() {
			page, _, err := s.List(ctx, pending)
			must(err)
			if len(page) != 50 {
				b.Fatalf("want 50 records, got %d", len(page))
			}
		}
	})
	phase("all pages of 1,000 pending", func() func() {
		return func() {
			f, n := pending, 0
			for f.Limit = 200; ; {
				page, next, err := s.List(ctx, f)
				must(err)
				n += len(page)
				if f.After = next; next == "" {
					break
				}
			}
			if n != 1000 {
				b.Fatalf("want 1,000 records, got %d", n)
			}
		}
	})
}
