package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/storetest"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// trips counts how often something is sent and waited for.
type trips struct{ n atomic.Int64 }

func (c *trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
func (c *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// What usually happens takes one round trip. What has to look before it changes
// something takes two, one that looks and locks, and one that writes and commits;
// where the usual was tried before, these come on top.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(database(t, false))
	if err != nil {
		t.Fatal(err)
	}
	counter := &trips{}
	config.ConnConfig.Tracer = counter
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := postgres.New(t.Context(), pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	p := ambit.Proposal{
		Binding: ambit.Binding{Tenant: "acme", Principal: "4:acme/6:apikey/robot", Capability: "notes.purge"},
		Level:   ambit.Human, Quorum: 1, Requester: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot"},
		DecideWithin: time.Hour, ExecuteWithin: time.Hour,
	}
	id := rand.Text()
	c := ambit.Claim{Attempt: ambit.Attempt{1}, Key: ambit.Digest{2}, Binding: p.Binding, Lease: time.Minute, Approval: ambit.ApprovalClaim{ID: id, Level: ambit.Human}}
	seq := uint64(0)
	entry := func() audit.Entry {
		seq++
		return audit.Entry{Tenant: "acme", Writer: "w", Seq: seq, Time: time.Now(), Kind: "call", Body: []byte("{}"), MAC: []byte{1}}
	}
	got, want := map[string]int64{}, map[string]int64{
		"prepare": 1, "prepare again": 1, "prepare what has changed": 3, "decide": 2, "approved": 1,
		"look up": 1, "claim with key and intent": 1, "claim again": 3, "finish with an outcome": 1, "claim of a key": 1, "release": 2,
		"get": 1, "list": 1, "entries added": 1, "entries read": 1, "key looked up": 1, "nonce": 1, "rate": 1, "halts read": 1,
		"give a grant": 2, "grants for a call": 1, "decide by a grant": 2, "revoke a grant": 2,
	}
	step := func(name string, do func() error) {
		t.Helper()
		counter.n.Store(0)
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got[name] = counter.n.Load()
	}
	prepare := func() error {
		e := entry()
		_, created, err := s.Propose(ctx, id, p, approval.Caps{Requester: 20, Tenant: 1000}, &e)
		if !created {
			seq--
		}
		return err
	}
	step("prepare", prepare)
	p.Input = []byte("sealed anew")
	step("prepare again", prepare)
	p.Version = "v2"
	step("prepare what has changed", prepare)
	step("decide", func() error {
		e := entry()
		_, _, err := s.Decide(ctx, "acme", id, approval.Decision{Decider: "4:acme/5:login/ann", Verdict: approval.Approve}, &e)
		return err
	})
	step("approved", prepare)
	step("look up", func() error { _, err := s.Find(ctx, c); return err })
	step("claim with key and intent", func() error { _, err := s.ClaimWith(ctx, c, entry()); return err })
	step("claim again", func() error { _, err := s.Claim(ctx, c); return err })
	step("finish with an outcome", func() error { return s.FinishWith(ctx, c, ambit.Ending{Outcome: []byte("done")}, entry()) })
	alone := keyed()
	step("claim of a key", func() error { _, err := s.Claim(ctx, alone); return err })
	step("release", func() error { return s.Release(ctx, alone) })
	step("get", func() error { _, err := s.Get(ctx, "acme", id); return err })
	step("list", func() error { _, _, err := s.List(ctx, approval.Filter{Tenant: "acme"}); return err })
	step("entries added", func() error { return s.Append(ctx, entry(), entry(), entry()) })
	step("entries read", func() error { _, _, err := s.Entries(ctx, audit.Query{Tenant: "acme"}); return err })
	step("key looked up", func() error { _, _, err := s.Keys().ByHash(ctx, "00"); return err })
	step("nonce", func() error { _, err := s.Nonces().Record(ctx, "a", "1", time.Now()); return err })
	step("rate", func() error { _, err := s.Take(ctx, "a", ambit.Rate{Calls: 1, Per: time.Minute}); return err })
	step("halts read", func() error { _, err := s.Halts().Read(ctx); return err })
	id, p.Binding.Input = rand.Text(), ambit.Digest{3}
	g := approval.Grant{ID: rand.Text(), Tenant: "acme", Principal: p.Binding.Principal, Capability: "notes.purge", Until: time.Now().Add(time.Hour), Budget: 1}
	step("give a grant", func() error { e := entry(); _, err := s.Give(ctx, g, &e); return err })
	step("prepare", prepare)
	step("grants for a call", func() error {
		_, _, err := s.Grants(ctx, approval.GrantFilter{Tenant: "acme", Principal: g.Principal, Capability: g.Capability, Live: true})
		return err
	})
	step("decide by a grant", func() error {
		e := entry()
		_, changed, err := s.DecideByGrant(ctx, "acme", id, g.ID, ambit.Digest{}, &e)
		if !changed && err == nil {
			err = errors.New("the grant does not count")
		}
		return err
	})
	step("revoke a grant", func() error {
		e := entry()
		_, _, _, err := s.RevokeGrant(ctx, "acme", g.ID, approval.Decision{Decider: "4:acme/5:login/ann", Verdict: approval.Revoke}, &e)
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}

func BenchmarkStore(b *testing.B) {
	s, err := postgres.Open(b.Context(), database(b, false), postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.Benchmark(b, stores(s))
}
