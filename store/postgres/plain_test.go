package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// noon is what time it is for a store of stopped.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// stopped returns a store whose database's clock stands still: a function of this
// name is found before the server's.
func stopped(t *testing.T) *postgres.Store {
	t.Helper()
	address := database(t, true)
	pool := connect(t, address)
	for _, statement := range []string{
		"CREATE SCHEMA stopped",
		"CREATE FUNCTION stopped.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT timestamptz '" + noon.Format(time.RFC3339) + "' $$",
	} {
		if _, err := pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, address+"&search_path=stopped,pg_catalog", postgres.Options{})
}

// The states, levels and times that rows are made of here: pending and approved
// more often than others, and what happens exactly now among them.
var (
	states = rapid.OneOf(
		rapid.SampledFrom([]ambit.ProposalState{ambit.ProposalPending, ambit.ProposalApproved}),
		rapid.Map(rapid.IntRange(int(ambit.ProposalPending), int(ambit.ProposalUnknown)), func(n int) ambit.ProposalState { return ambit.ProposalState(n) }),
	)
	levels   = rapid.SampledFrom([]ambit.Approval{ambit.Confirm, ambit.Human, ambit.FourEyes})
	previews = rapid.SampledFrom([]ambit.Digest{{}, {1}, {2}})
	moments  = rapid.Map(rapid.SampledFrom([]time.Duration{time.Hour, time.Microsecond, 0, -time.Microsecond, -time.Hour}), noon.Add)
)

// question is a proposal of a tenant.
func question(t *rapid.T, tenant string) ambit.Proposal {
	who := &ambit.Principal{Tenant: tenant, Authority: "apikey", Subject: rapid.SampledFrom([]string{"robot", "clerk"}).Draw(t, "requester")}
	return ambit.Proposal{
		Binding: ambit.Binding{Tenant: tenant, Principal: who.Key(), Capability: "notes.purge", Input: previews.Draw(t, "input")},
		Level:   levels.Draw(t, "level"), Quorum: 1, Requester: who, Effect: ambit.Destructive,
		Title: rapid.String().Draw(t, "title"), Reason: rapid.SampledFrom([]string{"", "\x00", "\"level\":3", `\u0000 \ud800`}).Draw(t, "reason"),
		Preview: previews.Draw(t, "preview"), Version: rapid.SampledFrom([]string{"", "v1"}).Draw(t, "version"), Input: []byte("sealed"), Summary: []byte("sealed too"),
		Key: previews.Draw(t, "key"), DecideWithin: time.Hour, ExecuteWithin: time.Minute,
	}
}

// row is a row as it may be found, and as some never are. Every other one is to be
// claimed.
func row(t *rapid.T, id string, p ambit.Proposal) lifecycle.Row {
	r := lifecycle.New(id, p, noon.Add(-time.Minute))
	if rapid.Bool().Draw(t, "usual") {
		if p.Level > ambit.Confirm {
			r.State, r.ExecuteBy = ambit.ProposalApproved, noon.Add(time.Minute)
			r.Decisions = []approval.Decision{{Decider: "ann", Verdict: approval.Approve, Preview: p.Preview, At: noon}}
		}
		return r
	}
	r.State, r.Open = states.Draw(t, "state"), rapid.Bool().Draw(t, "open")
	r.DecideBy, r.ExecuteBy, r.Lapses, r.Finished = moments.Draw(t, "decide by"), moments.Draw(t, "execute by"), moments.Draw(t, "lapses"), moments.Draw(t, "finished")
	r.Kind = rapid.SampledFrom([]ambit.ProposalKind{ambit.KindApproval, ambit.KindApproval, ambit.KindApproval, ambit.KindConsent}).Draw(t, "kind")
	if rapid.Bool().Draw(t, "claimed before") {
		r.Attempt, r.Claimed = ambit.Attempt{9}, noon
	}
	return r
}

// rows returns all rows of a tenant, by their ids.
func rows(t *rapid.T, s *postgres.Store, tenant string) map[string]lifecycle.Row {
	t.Helper()
	all, err := s.Rows(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The plain case of a claim is one in which lifecycle makes it, and writes what
// lifecycle says; in any other nothing is written.
func TestPlain_Claim(t *testing.T) {
	t.Parallel()
	s, outcomes := stopped(t), map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		tenant, id := rand.Text(), rand.Text()
		p := question(t, tenant)
		if err := s.Put(t.Context(), row(t, id, p)); err != nil {
			t.Fatal(err)
		}
		c := ambit.Claim{
			Attempt: ambit.Attempt{7}, Key: previews.Draw(t, "key"), Binding: p.Binding, Lease: time.Minute,
			Approval: ambit.ApprovalClaim{ID: id, Level: p.Level, Preview: p.Preview},
		}
		switch rapid.IntRange(0, 7).Draw(t, "mistaken") {
		case 1:
			c.Binding.Input = ambit.Digest{9}
		case 2:
			c.Approval.ID = "another"
		case 3:
			c.Approval.Preview = previews.Draw(t, "claimed preview")
		case 4, 5:
			c.Approval.Level = levels.Draw(t, "claimed level")
		}
		want, plain := rows(t, s, tenant), false
		if r, there := want[c.Approval.ID]; there {
			if _, plain, _ = r.Claim(c, noon); plain {
				want[id] = r
			}
		}
		outcomes[plain]++
		if done, err := s.ClaimPlain(t.Context(), c); err != nil || done != plain {
			t.Fatalf("want the plain case: %t, got %t, error %v", plain, done, err)
		}
		if diff := cmp.Diff(want, rows(t, s, tenant)); diff != "" {
			t.Fatalf("rows (-lifecycle +written):\n%s", diff)
		}
	})
	t.Logf("plain: %d, not: %d", outcomes[true], outcomes[false])
	if len(outcomes) != 2 {
		t.Errorf("want claims of both kinds, got %v", outcomes)
	}
}

// The plain case of a question is one that lifecycle makes a row of, within the
// caps, or that is answered by a row as it is; in any other nothing is written.
func TestPlain_Question(t *testing.T) {
	t.Parallel()
	s, outcomes := stopped(t), map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		tenant, id := rand.Text(), rand.Text()
		p := question(t, tenant)
		for i := range rapid.SampledFrom([]int{1, 0, 2, 4}).Draw(t, "others") {
			other := question(t, tenant)
			if i == 0 {
				switch rapid.IntRange(0, 3).Draw(t, "like the one asked") {
				case 0, 1:
					other = p
				case 2:
					other.Binding = p.Binding
				}
			}
			r := row(t, rand.Text(), other)
			if i > 0 && r.Open { // an operation has one that is
				r.Proposal.Binding.Contract = ambit.Digest{byte(i)}
				r.Operation = r.Proposal.Binding.Operation()
			}
			if rapid.IntRange(0, 5).Draw(t, "its id") == 5 {
				id = r.ID
			}
			if err := s.Put(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		caps := approval.Caps{Requester: rapid.IntRange(0, 2).Draw(t, "cap of a requester"), Tenant: rapid.IntRange(0, 3).Draw(t, "cap of a tenant")}

		want := rows(t, s, tenant)
		var requester, pending lifecycle.Waiting
		outcome := "left"
		var answers *lifecycle.Row
		for _, r := range want {
			if r.Open && r.Operation == p.Binding.Operation() {
				answers = &r
			}
			if r.Kind == ambit.KindApproval && r.State == ambit.ProposalPending && noon.Before(r.DecideBy) {
				if pending.Rows++; r.Proposal.Binding.Principal == p.Binding.Principal {
					requester.Rows++
				}
			}
		}
		var record approval.Record
		if answers != nil {
			asked := answers.Clone()
			if stays, changed, _ := asked.Ask(p, noon); stays && !changed {
				outcome, record = "answered", answers.Record
			}
		} else if _, taken := want[id]; !taken && lifecycle.TooMany(caps, requester, pending, noon) == nil {
			outcome, want[id] = "made", lifecycle.New(id, p, noon)
			record = want[id].Record
		}
		outcomes[outcome]++

		e := audit.Entry{Tenant: tenant, Writer: "w", Seq: 1, Time: noon, Kind: "proposal", Proposal: id}
		got, created, plain, err := s.ProposePlain(t.Context(), id, p, caps, &e)
		if err != nil || plain != (outcome != "left") || created != (outcome == "made") {
			t.Fatalf("want it %s, got it plain %t, created %t, error %v", outcome, plain, created, err)
		}
		if diff := cmp.Diff(record, got); diff != "" {
			t.Fatalf("record (-lifecycle +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, rows(t, s, tenant)); diff != "" {
			t.Fatalf("rows (-lifecycle +written):\n%s", diff)
		}
		entries, _, err := s.Entries(t.Context(), audit.Query{Tenant: tenant})
		if err != nil || (len(entries) == 1) != created {
			t.Fatalf("want an entry: %t, got %d, error %v", created, len(entries), err)
		}
	})
	t.Log(outcomes)
	if len(outcomes) != 3 {
		t.Errorf("want questions of three kinds, got %v", outcomes)
	}
}

// A claim waits for whoever has locked its proposal. Whoever makes it can give up,
// and it is not made behind their back then.
func TestPlain_Locked(t *testing.T) {
	t.Parallel()
	address := database(t, false)
	pool, s := connect(t, address), open(t, address, postgres.Options{})
	p := ambit.Proposal{
		Binding: ambit.Binding{Tenant: "acme", Principal: "4:acme/6:apikey/robot", Capability: "notes.purge"}, Level: ambit.Confirm,
		Requester: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot"}, DecideWithin: time.Hour,
	}
	id := rand.Text()
	if _, _, err := s.Propose(t.Context(), id, p, approval.Caps{}, nil); err != nil {
		t.Fatal(err)
	}
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM ambit_proposal WHERE id = $1 FOR UPDATE", id); err != nil {
		t.Fatal(err)
	}
	claim := func(ctx context.Context) (ambit.Record, error) {
		return s.Claim(ctx, ambit.Claim{Attempt: ambit.Attempt{1}, Binding: p.Binding, Lease: time.Minute, Approval: ambit.ApprovalClaim{ID: id, Level: ambit.Confirm}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := claim(ctx)
		ended <- err
	}()
	wait(t, func() bool { // until it looks, and can be given up
		waits := false
		err := pool.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'").Scan(&waits)
		return err == nil && waits || len(ended) > 0
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("want the claim given up, got %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r, err := claim(t.Context()); err != nil || r.Approval.ID != "" {
		t.Errorf("want the claim made now, got %+v, error %v", r, err)
	}
}
