package approval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// However many make one call at once, it runs once and spends once; of more calls
// than the budget has, as many run.
func TestT20_BudgetUnderRaces(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice, bob := n.person("alice"), n.person("bob")
	g := n.give(bob, allowing(alice))
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { n.call(alice, "notes.purge", shelfInput{Folder: "old"}, "") })
	}
	all.Wait()
	if got := n.calls.Load(); got != 1 {
		t.Errorf("one call that 30 make: want it made once, got %d", got)
	}
	n.used(g, 1)
	for i := range 25 { // of which no more wait than may
		all.Go(func() { n.call(alice, "notes.purge", shelfInput{Folder: fmt.Sprint("old ", i)}, "") })
	}
	all.Wait()
	if got := n.calls.Load(); got != 10 {
		t.Errorf("25 more calls: want 10 made by the grant in all, got %d", got)
	}
	n.used(g, 10)
}

// Repeating a call that was made answers it, and spends nothing.
func TestT20_RetriesSpendOnce(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice := n.person("alice")
	g := n.give(n.person("bob"), allowing(alice))
	for range 3 {
		if got := n.purges(alice, "notes.purge", "old"); got != "" {
			t.Fatalf("want it made, or answered, got %q", got)
		}
	}
	n.used(g, 1)
	if got := n.calls.Load(); got != 1 {
		t.Errorf("want one call, got %d", got)
	}
}

// A quorum counts a grant as one person, who is its granter.
func TestT20_Quorum(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice, bob, carol := n.person("alice"), n.person("bob"), n.person("carol")
	g, second := n.give(bob, allowing(alice, calling("notes.purge_both"))), n.give(bob, allowing(alice, calling("notes.purge_both")))
	id := n.ask(alice, "notes.purge_both", "old")
	n.ask(alice, "notes.purge_both", "old")
	if want, got := ambit.CodeConflict, codeOf(n.decide(bob, id, approval.Approve)); want != got {
		t.Errorf("the granter as well: want %s, got %s", want, got)
	}
	view, err := n.approvals.View(t.Context(), n.app, carol, id)
	if n.must(err); !strings.Contains(view.String(), "Approved by bob, ") || !strings.Contains(view.String(), ", by the standing grant "+second.ID+": \"the nightly clean-up\"\n") && !strings.Contains(view.String(), ", by the standing grant "+g.ID+": \"the nightly clean-up\"\n") {
		t.Errorf("want to be told of the grant, got\n%s", view)
	}
	n.must(n.decide(carol, id, approval.Approve))
	if got := n.purges(alice, "notes.purge_both", "old"); got != "" || n.calls.Load() != 1 {
		t.Errorf("with another person: want it made, got %q and %d calls", got, n.calls.Load())
	}
	list, _, err := n.approvals.Grants(t.Context(), n.app, bob, approval.GrantFilter{})
	if n.must(err); len(list) != 2 || list[0].Used+list[1].Used != 1 {
		t.Errorf("want one call of the two grants spent, got %+v", list)
	}
	n.give(carol, allowing(alice, calling("notes.purge_both")))
	if got := n.purges(alice, "notes.purge_both", "old too"); got != "" {
		t.Errorf("with the grants of two persons: want it made, got %q", got)
	}
}

// A person's no stands, whatever was allowed in advance.
func TestT20_DenyWins(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice := n.person("alice")
	n.give(n.person("bob"), allowing(alice, calling("notes.purge_both")))
	id := n.ask(alice, "notes.purge_both", "old")
	n.must(n.decide(n.person("carol"), id, approval.Deny))
	n.give(n.person("dave"), allowing(alice, calling("notes.purge_both")))
	if got := n.purges(alice, "notes.purge_both", "old"); got != ambit.CodeApprovalDenied {
		t.Errorf("want %s, got %q", ambit.CodeApprovalDenied, got)
	}
}

// Whose permission has gone by the time of the call has allowed nothing, and
// nobody can tell where nobody can say.
func TestT20_GrantersStillMay(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	fails := false
	n := newNotes(t, approval.Options{LongestGrant: longestGrant, Logger: logTo(&log)}, func(o *ambit.Options) {
		resolve := o.Resolve
		o.Resolve = func(ctx context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			if fails && p.Subject == "bob" {
				return nil, errors.New("directory is away")
			}
			return resolve(ctx, p)
		}
	})
	alice, bob := n.person("alice"), n.person("bob")
	g := n.give(bob, allowing(alice, calling("notes.purge_both")))
	id := n.ask(alice, "notes.purge_both", "old")
	n.used(g, 1)
	n.allow(bob, "notes:purge")
	n.ask(alice, "notes.purge_both", "old")
	if r, err := n.store.Get(t.Context(), "", id); err != nil || len(r.Decisions) != 0 {
		t.Errorf("want the word of the granter taken back, got %d, %v", len(r.Decisions), err)
	}
	n.used(g, 1)
	n.allow(bob, "notes:purge", "approvals:decide")
	fails = true
	n.ask(alice, "notes.purge_both", "old too")
	if !strings.Contains(log.String(), "a standing grant does not count, because it cannot be judged") || !strings.Contains(log.String(), g.ID) {
		t.Errorf("want the operator told, got\n%s", log.String())
	}
}

// Revoking a grant takes back what it has approved that was not made, and nobody's
// word but its own; who waits for another person is told of.
func TestT20_RevokedTakesBack(t *testing.T) {
	t.Parallel()
	told := make(chan approval.Notice, 10)
	n := newNotes(t, approval.Options{LongestGrant: longestGrant, Notifiers: []approval.Notifier{
		approval.NotifierFunc(func(_ context.Context, notice approval.Notice) error { told <- notice; return nil }),
	}})
	alice, bob, carol := n.person("alice"), n.person("bob"), n.person("carol")
	g := n.give(bob, allowing(alice))
	n.fails.Store(true) // which gives the approval back
	if got := n.purges(alice, "notes.purge", "old"); got != ambit.CodeUnavailable {
		t.Fatalf("want the call to fail, got %q", got)
	}
	n.fails.Store(false)
	revoked, err := n.approvals.RevokeGrant(t.Context(), n.app, carol, g.ID, "no more of that")
	if n.must(err); revoked.State(time.Now()) != "revoked" || revoked.Revoked.Name != "carol" {
		t.Errorf("want it revoked by carol, got %+v", revoked)
	}
	failure := n.call(alice, "notes.purge", shelfInput{Folder: "old"}, "")
	if failure == nil || failure.Code != ambit.CodeApprovalDenied || failure.Approval.State != ambit.ProposalRevoked || failure.Approval.Reason != "no more of that" {
		t.Errorf("what was approved and not made: want it revoked, with the reason, got %+v", failure)
	}
	if got := n.purges(alice, "notes.purge", "old too"); got != ambit.CodeApprovalPending {
		t.Errorf("the next call: want it to wait, got %q", got)
	}
	<-told
	both := n.give(bob, allowing(alice, calling("notes.purge_both")))
	id := n.ask(alice, "notes.purge_both", "old")
	if notice := <-told; notice.ID != id {
		t.Errorf("want to be told that another person is waited for, got %+v", notice)
	}
	_, err = n.approvals.RevokeGrant(t.Context(), n.app, bob, both.ID, "")
	n.must(err)
	if notice := <-told; notice.ID != id {
		t.Errorf("want to be told that two persons are waited for, got %+v", notice)
	}
	if _, err := n.approvals.RevokeGrant(t.Context(), n.app, bob, both.ID, ""); codeOf(err) != ambit.CodeConflict {
		t.Errorf("revoking again: want %s, got %v", ambit.CodeConflict, err)
	}
}

// Nobody is told of a call that a grant has approved: there is nothing to decide.
func TestT20_NobodyIsToldOfWhatIsAllowed(t *testing.T) {
	t.Parallel()
	told := make(chan approval.Notice, 10)
	n := newNotes(t, approval.Options{LongestGrant: longestGrant, Notifiers: []approval.Notifier{
		approval.NotifierFunc(func(_ context.Context, notice approval.Notice) error { told <- notice; return nil }),
	}})
	alice := n.person("alice")
	n.give(n.person("bob"), allowing(alice))
	if got := n.purges(alice, "notes.purge", "old"); got != "" {
		t.Fatalf("want it made, got %q", got)
	}
	n.must(n.approvals.Close(t.Context()))
	if len(told) != 0 {
		t.Errorf("want nobody told, got %+v", <-told)
	}
}

// Without the option nothing is granted, and nothing that was counts or is looked
// for.
func TestT20_OffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	store := memory.New()
	on := newNotesOn(t, store, approval.Options{LongestGrant: longestGrant})
	off := newNotesOn(t, store, approval.Options{})
	alice, bob := on.person("alice"), on.person("bob")
	off.people = on.people
	g := on.give(bob, allowing(alice))
	if got := off.purges(alice, "notes.purge", "old"); got != ambit.CodeApprovalPending {
		t.Errorf("a call: want it to wait, got %q", got)
	}
	on.used(g, 0)
	on.fails.Store(true)
	if got := on.purges(alice, "notes.purge", "old too"); got != ambit.CodeUnavailable { // it is approved, and was not made
		t.Errorf("a call that fails: got %q", got)
	}
	if got := off.purges(alice, "notes.purge", "old too"); got != ambit.CodeApprovalPending {
		t.Errorf("what a grant has approved: want it to wait, got %q", got)
	}
	if _, err := off.approvals.Give(t.Context(), off.app, bob, allowing(alice)); codeOf(err) != ambit.CodeForbidden {
		t.Errorf("granting: want %s, got %v", ambit.CodeForbidden, err)
	}
	_, err := off.approvals.RevokeGrant(t.Context(), off.app, bob, g.ID, "") // which is always for the better
	off.must(err)
}

// A grant holds no longer than grants may, also where they could hold longer when it
// was given.
func TestT20_ShorterThanWhenGiven(t *testing.T) {
	t.Parallel()
	store := memory.New()
	long := newNotesOn(t, store, approval.Options{LongestGrant: longestGrant})
	short := newNotesOn(t, store, approval.Options{LongestGrant: 2 * time.Hour})
	alice, bob := long.person("alice"), long.person("bob")
	short.people = long.people
	store.Advance(-time.Hour)
	younger := long.give(bob, allowing(alice))
	store.Advance(-2 * time.Hour)
	both := long.give(bob, allowing(alice, calling("notes.purge_both")))
	older := long.give(bob, allowing(alice, schemaOf(`{"properties":{"folder":{"pattern":"^ancient"}}}`)))
	store.Advance(3 * time.Hour)
	for folder, want := range map[string]ambit.Code{"old": "", "ancient": ambit.CodeApprovalPending} {
		if got := short.purges(alice, "notes.purge", folder); got != want {
			t.Errorf("%s: want %q, got %q", folder, want, got)
		}
	}
	for g, want := range map[string]approval.GrantState{younger.ID: approval.GrantLive, older.ID: approval.GrantExpired} {
		view, err := short.approvals.Grant(t.Context(), short.app, bob, g)
		short.must(err)
		if got := view.Grant.State(time.Now()); got != want {
			t.Errorf("want it %s, got %s", want, got)
		}
	}
	id := long.ask(alice, "notes.purge_both", "old")
	for _, test := range []struct {
		n    *notes
		want int
	}{{long, 1}, {short, 0}} {
		test.n.ask(alice, "notes.purge_both", "old")
		if r, err := store.Get(t.Context(), "", id); err != nil || len(r.Decisions) != test.want {
			t.Errorf("a word that was said by a grant which is over now: want %d left, got %d, %v", test.want, len(r.Decisions), err)
		}
	}
	long.used(both, 1)
	list, _, err := short.approvals.Grants(t.Context(), short.app, bob, approval.GrantFilter{Capability: "notes.purge"})
	if short.must(err); len(list) != 2 || list[0].State(time.Now()) != approval.GrantExpired {
		t.Errorf("want both listed, one of them expired, got %+v", list)
	}
	list, _, err = short.approvals.Grants(t.Context(), short.app, bob, approval.GrantFilter{Live: true})
	if short.must(err); len(list) != 1 || list[0].ID != younger.ID {
		t.Errorf("live: want the younger one, got %+v", list)
	}
	if got := long.purges(alice, "notes.purge", "ancient"); got != "" {
		t.Errorf("where grants may hold longer: want it made, got %q", got)
	}
}

// A hundred live grants for one caller and capability are enough.
func TestT20_GrantsAreBounded(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice, bob := n.person("alice"), n.person("bob")
	for range 100 {
		n.give(bob, allowing(alice))
	}
	if _, err := n.approvals.Give(t.Context(), n.app, bob, allowing(alice)); codeOf(err) != ambit.CodeConflict {
		t.Errorf("want %s, got %v", ambit.CodeConflict, err)
	}
	n.give(bob, allowing(n.person("carol")))
}

// Grants that hold no longer, because grants may hold for less now, are in nobody's way.
func TestT20_GrantsThatHoldNoLongerAreNotCounted(t *testing.T) {
	t.Parallel()
	store := memory.New()
	long := newNotesOn(t, store, approval.Options{LongestGrant: longestGrant})
	short := newNotesOn(t, store, approval.Options{LongestGrant: 2 * time.Hour})
	alice, bob := long.person("alice"), long.person("bob")
	short.people = long.people
	store.Advance(-3 * time.Hour)
	for range 100 {
		long.give(bob, allowing(alice))
	}
	store.Advance(3 * time.Hour)
	g := allowing(alice)
	g.Until = time.Now().Add(time.Hour)
	for range 100 {
		short.give(bob, g)
	}
	if _, err := short.approvals.Give(t.Context(), short.app, bob, g); codeOf(err) != ambit.CodeConflict {
		t.Errorf("want %s, got %v", ambit.CodeConflict, err)
	}
}

// Weakness: what was granted, by whom and why, was on no record.
func TestWeakness_GrantsAreOnRecord(t *testing.T) {
	t.Parallel()
	store := memory.New()
	log := newLog(t, store)
	n := newNotesOn(t, store, approval.Options{Audit: log, LongestGrant: longestGrant})
	alice, bob := n.person("alice"), n.person("bob")
	g := n.give(bob, allowing(alice, times(3)))
	if got := n.purges(alice, "notes.purge", "old"); got != "" {
		t.Fatalf("want it made, got %q", got)
	}
	_, err := n.approvals.RevokeGrant(t.Context(), n.app, n.person("carol"), g.ID, "done")
	n.must(err)
	n.must(log.Flush(t.Context()))
	page, _, err := store.Entries(t.Context(), audit.Query{})
	n.must(err)
	var got []string
	for _, e := range page {
		r, err := e.Record()
		n.must(err)
		if slices.Contains([]string{audit.KindProposal, audit.KindIntent, audit.KindOutcome}, r.Kind) {
			continue
		}
		line := fmt.Sprintf("%s %s by %s: %s", r.Kind, r.Verdict, r.Principal, r.Reason)
		if r.Grant != g.ID || r.Capability != "notes.purge" {
			t.Errorf("%s: want the grant and the capability, got %+v", line, r)
		}
		if a := r.Granted; a != nil {
			line += fmt.Sprintf("; %d of %d for %s, %s", a.Used, a.Budget, a.To, a.Input)
		}
		got = append(got, line)
	}
	const what = `for 0:/5:login/alice, {"properties":{"folder":{"pattern":"^old"}}}`
	want := []string{
		"grant give by 0:/5:login/bob: the nightly clean-up; 0 of 3 " + what,
		"decision approve by 0:/5:login/bob: the nightly clean-up",
		"grant revoke by 0:/5:login/carol: done; 1 of 3 " + what,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	report, err := log.Verify(t.Context(), "", nil)
	if n.must(err); len(report.Findings) != 0 {
		t.Errorf("want a record that verifies, got %+v", report.Findings)
	}
}

// overtaken is a store in which somebody else takes the place of the entry that the
// first grant comes with.
type overtaken struct {
	*memory.Store
	once sync.Once
}

func (o *overtaken) Give(ctx context.Context, g approval.Grant, e *audit.Entry) (approval.Grant, error) {
	var taken error
	o.once.Do(func() {
		taken = o.Append(ctx, audit.Entry{Tenant: e.Tenant, Writer: e.Writer, Seq: e.Seq, Time: e.Time})
	})
	if taken != nil {
		return approval.Grant{}, taken
	}
	return o.Store.Give(ctx, g, e)
}

// A grant is kept as it was given, also where its entry in the record took two tries.
func TestT20_GivenOnTheSecondTry(t *testing.T) {
	t.Parallel()
	store := &overtaken{Store: memory.New()}
	n := newNotesOn(t, store.Store, approval.Options{LongestGrant: longestGrant})
	approvals, err := approval.New(store, approval.Options{Audit: newLog(t, store), LongestGrant: longestGrant, Logger: slog.New(slog.DiscardHandler)})
	n.must(err)
	alice, bob := n.person("alice"), n.person("bob")
	given, err := approvals.Give(t.Context(), n.app, bob, allowing(alice))
	n.must(err)
	want := allowing(alice)
	if given.ID == "" || given.Principal != want.Principal || given.Budget != want.Budget || given.Given.Name != "bob" {
		t.Errorf("want the grant as it was given, got %+v", given)
	}
	if got := n.purges(alice, "notes.purge", "old"); got != "" {
		t.Errorf("a call that it covers: want it made, got %q", got)
	}
}

// unheard is a store of which nobody hears that a grant was taken.
type unheard struct{ *memory.Store }

func (u unheard) Give(ctx context.Context, g approval.Grant, e *audit.Entry) (approval.Grant, error) {
	_, err := u.Store.Give(ctx, g, e)
	return approval.Grant{}, errors.Join(errors.New("connection reset"), err)
}

// Whoever has given a grant is not told that they have not, where the store has it.
func TestT20_GivenAndNotHeardOf(t *testing.T) {
	t.Parallel()
	store := unheard{memory.New()}
	n := newNotesOn(t, store.Store, approval.Options{LongestGrant: longestGrant})
	for name, log := range map[string]*audit.Log{"without a record": nil, "with a record": newLog(t, store)} {
		approvals, err := approval.New(store, approval.Options{Audit: log, LongestGrant: longestGrant, Logger: slog.New(slog.DiscardHandler)})
		n.must(err)
		given, err := approvals.Give(t.Context(), n.app, n.person("bob"), allowing(n.person("alice")))
		kept, _ := n.store.Grant(t.Context(), "", given.ID)
		if diff := cmp.Diff(kept, given); err != nil || given.ID == "" || diff != "" {
			t.Errorf("%s: want the grant that is in force, got error %v (-kept +given):\n%s", name, err, diff)
		}
	}
}

// What the operator is told of grants is safe to show, and names people as what is told
// of decisions does.
func TestT10_GrantsInTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	n := newNotes(t, approval.Options{LongestGrant: longestGrant, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	alice, bob := n.person("ali\u202ece"), n.person("bob\u202e")
	g := n.give(bob, allowing(alice))
	if got := n.purges(alice, "notes.purge", "old"); got != "" {
		t.Fatalf("want it made, got %q", got)
	}
	_, err := n.approvals.RevokeGrant(t.Context(), n.app, bob, g.ID, "")
	n.must(err)
	for _, want := range []string{
		`"msg":"standing grant given"`, `"msg":"proposal approved by a standing grant"`, `"msg":"standing grant revoked"`,
		`"principal":"0:/5:login/ali\\u202ece"`, `"granter":"bob\\u202e (login)"`, `"decider":"bob\\u202e (login)"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("want %s in the log, got\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "\u202e") {
		t.Errorf("want no character that a screen obeys, got\n%q", log.String())
	}
}

// What belongs to a run gives, shows and revokes no grant, whoever's it is.
func TestT12_NothingOfARunGrants(t *testing.T) {
	t.Parallel()
	n := newGrantable(t)
	alice, bob := n.person("alice"), n.person("bob")
	g := n.give(bob, allowing(alice))
	for surface := ambit.HTTP; surface <= ambit.CommandLine; surface <<= 1 {
		ctx, run := n.app.NewRun(t.Context(), ambit.RunOptions{Principal: bob, Surface: surface})
		_, give := n.approvals.Give(ctx, n.app, bob, allowing(alice))
		_, look := n.approvals.Grant(ctx, n.app, bob, g.ID)
		_, _, list := n.approvals.Grants(ctx, n.app, bob, approval.GrantFilter{})
		_, revoke := n.approvals.RevokeGrant(ctx, n.app, bob, g.ID, "")
		for what, err := range map[string]error{"give": give, "look": look, "list": list, "revoke": revoke} {
			if codeOf(err) != ambit.CodeNotFound {
				t.Errorf("%s in a run of %s: want %s, got %v", what, surface, ambit.CodeNotFound, err)
			}
		}
		run.End()
	}
	if kept, err := n.store.Grant(t.Context(), "", g.ID); err != nil || kept.State(time.Now()) != "live" {
		t.Errorf("want it live, got %+v, %v", kept, err)
	}
}
