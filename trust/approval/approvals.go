package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// How many proposals may be pending unless [Options.Caps] says otherwise.
const (
	DefaultRequesterCap = 20
	DefaultTenantCap    = 1000
)

// Options say how an application keeps approvals. The zero value keeps them,
// tells nobody, and knows no page.
type Options struct {
	// Audit records proposals and decisions, each in the transaction that makes
	// it. It is a log over the same store. Nil: they are on no record but their
	// own.
	Audit *audit.Log
	// Notifiers are told of each proposal that waits for a person. Empty: nobody
	// is.
	Notifiers []Notifier
	// Caps bound how many proposals may be pending. What is zero is
	// DefaultRequesterCap or DefaultTenantCap.
	Caps Caps
	// Keep is how long a record is kept that nothing can come of any more; it is
	// looked for once an hour while proposals are made. At least a day. Zero:
	// DefaultKeep.
	Keep time.Duration
	// LongestGrant is how long a standing grant may hold at most, such as 30 days; at
	// least a minute and at most 366 days. Where it is set, each call that waits for a
	// person costs a look at the grants of its caller. Those that were given before
	// hold no longer either, from when they were given. Zero: there are none.
	LongestGrant time.Duration
	// URL is where the approvals page is reached, as in
	// "https://notes.example.com/approvals": requesters and notices are given the
	// proposal's address below it, and [NewPage] serves it there and nowhere
	// else. Empty: there is no page.
	URL string
	// Logger takes messages for the operator. Nil: slog.Default().
	Logger *slog.Logger
}

// Approvals is the application's [ambit.Approver]: it keeps proposals in a
// [Store] and takes the decisions of persons. Make one with [New] and close it in
// the end. Methods are safe for concurrent use.
type Approvals struct {
	store    Store
	audit    *audit.Log // nil: none
	caps     Caps
	page     *url.URL // nil: there is none
	outboxes []*outbox
	old      *retention
	logger   *slog.Logger

	longestGrant time.Duration // zero: there are no grants
}

// New checks the options. It does no I/O and starts nothing.
func New(store Store, o Options) (*Approvals, error) {
	a := &Approvals{store: store, audit: o.Audit, caps: o.Caps, logger: o.Logger, longestGrant: o.LongestGrant}
	switch {
	case store == nil:
		return nil, errors.New("approval: New needs a store")
	case o.Audit != nil && !same(o.Audit.Unwrap(), store):
		return nil, errors.New("approval: Options.Audit is a log over another store, so that a decision and its entry could not be one transaction")
	case o.Caps.Requester < 0 || o.Caps.Tenant < 0:
		return nil, errors.New("approval: Options.Caps is negative: leave it zero for the default")
	case o.Keep != 0 && o.Keep < 24*time.Hour:
		return nil, errors.New("approval: Options.Keep is less than a day: leave it zero for the default")
	case o.LongestGrant != 0 && (o.LongestGrant < time.Minute || o.LongestGrant > maxLongestGrant):
		return nil, errors.New("approval: Options.LongestGrant is not between a minute and 366 days: leave it zero for no standing grants")
	case slices.Contains(o.Notifiers, nil):
		return nil, errors.New("approval: Options.Notifiers holds nil: leave it out")
	}
	if a.caps.Requester == 0 {
		a.caps.Requester = DefaultRequesterCap
	}
	if a.caps.Tenant == 0 {
		a.caps.Tenant = DefaultTenantCap
	}
	if a.logger == nil {
		a.logger = slog.Default()
	}
	if o.URL != "" {
		page, err := url.Parse(o.URL)
		if err != nil || page.Host == "" || page.Scheme != "https" && page.Scheme != "http" || page.User != nil || page.RawQuery != "" || page.Fragment != "" || strings.ContainsAny(page.Path, "{}%") {
			return nil, fmt.Errorf("approval: Options.URL is %q: give the page's address, as in \"https://notes.example.com/approvals\"", o.URL)
		}
		page.Path = strings.TrimRight(page.Path, "/")
		a.page = page
	}
	a.old = newRetention(store, cmp.Or(o.Keep, DefaultKeep), a.logger)
	for _, to := range o.Notifiers {
		a.outboxes = append(a.outboxes, newOutbox(to, a.logger))
	}
	return a, nil
}

// same compares without a panic where a type cannot be compared.
func same(a, b any) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// Ledger returns the ledger that claims what is proposed here: the audit log
// where there is one, so that a claim and its intent are one transaction, or else
// the store.
func (a *Approvals) Ledger() ambit.Ledger {
	if a.audit != nil {
		return a.audit
	}
	return a.store
}

// Close passes on the notices that wait, until ctx ends, and returns when
// nothing of the notifiers, and no removal of old records, runs any more. Proposals that are made afterwards are
// kept, and nobody is told.
func (a *Approvals) Close(ctx context.Context) error {
	a.old.close()
	var failures []error
	for _, o := range a.outboxes {
		failures = append(failures, o.close(ctx))
	}
	return errors.Join(failures...)
}

// Propose returns the proposal that answers for an operation, or records a new
// one and has the notifiers told, see [ambit.Approver]. Where somebody has
// decided who may no longer, or on another preview than that of now, those
// decisions are taken back and the proposal is pending again. Standing grants then
// say what they have to say.
func (a *Approvals) Propose(ctx context.Context, p ambit.Proposal, about ambit.Inquiry) (ambit.Standing, error) {
	if p.Requester == nil || p.Requester.Anonymous() {
		return ambit.Standing{}, &ambit.Error{Code: ambit.CodeUnauthenticated}
	}
	if a.longestGrant == 0 {
		about.Fits = nil // nothing counts that was allowed in advance
	}
	r, created, err := a.propose(ctx, p)
	if err != nil {
		return ambit.Standing{}, err
	}
	lost := false
	change, needed, deciders, err := a.outdated(ctx, &r, p, about)
	if err != nil {
		return ambit.Standing{}, err
	}
	if needed {
		if r, lost, err = a.reconsider(ctx, r, change, p.Requester); err != nil {
			return ambit.Standing{}, err
		}
	}
	if r = a.byGrants(ctx, r, p, about, deciders); created || lost {
		a.tell(r)
	}
	return a.standing(r), nil
}

// tell tells the notifiers of a record, if it waits for a person.
func (a *Approvals) tell(r Record) {
	if !r.waits() {
		return
	}
	n := a.noticeOf(r)
	for _, o := range a.outboxes {
		o.put(n)
	}
}

// Answering returns the proposal that answers for a call, see [ambit.Approver].
func (a *Approvals) Answering(ctx context.Context, b ambit.Binding) (ambit.Standing, error) {
	f := Filter{Tenant: b.Tenant, Operation: b.Operation(), Limit: 10} // consents are among them
	for {
		page, next, err := a.store.List(ctx, f)
		if err != nil {
			return ambit.Standing{}, err
		}
		for _, r := range page {
			if r.Kind == ambit.KindApproval { // the newest
				whole, err := a.store.Get(ctx, b.Tenant, r.ID)
				return a.standing(whole), err
			}
		}
		if f.After = next; next == "" {
			return ambit.Standing{}, nil
		}
	}
}

// outdated finds out which decisions on a proposal no longer count: those of
// persons who may decide no longer, or who have come to stand behind the
// requester or another decider, those on another preview, and those by grants that
// hold no longer, or where grants do not count. Deciders are who has decided the
// others, as known then and now.
func (a *Approvals) outdated(ctx context.Context, r *Record, p ambit.Proposal, about ambit.Inquiry) (c Change, needed bool, deciders []*ambit.Principal, err error) {
	c.Preview, c.Version = r.Proposal.Preview, r.Proposal.Version
	switch {
	case r.Proposal.Level < ambit.Human || r.State != ambit.ProposalPending && r.State != ambit.ProposalApproved:
		return c, false, nil, nil
	case r.State == ambit.ProposalPending && p.Preview != r.Proposal.Preview:
		c.Preview, c.Version, c.Input, c.Summary, needed = p.Preview, p.Version, p.Input, p.Summary, true
	}
	for _, d := range r.Decisions {
		if d.Verdict != Approve || d.Preview != c.Preview {
			continue // the latter goes with its preview
		}
		counts := d.Principal != nil
		if counts && d.Grant != "" {
			if counts, err = a.stillHolds(ctx, p.Binding.Tenant, d.Grant, about); err != nil {
				return c, false, nil, err
			}
		}
		if counts {
			now, refused := mayApprove(ctx, d.Principal, r, p, about, deciders)
			if refused == nil {
				deciders = append(deciders, d.Principal, now)
				continue
			}
			if !isForbidden(refused) {
				return c, false, nil, refused
			}
		}
		c.Without, needed = append(c.Without, d.Decider), true
	}
	return c, needed, deciders, nil
}

// mayApprove returns who a decider is now, and nil where they may approve a call and
// share no person with the other deciders, nor with the requester where it takes
// another pair of eyes: both as they were known when they decided and as they are
// known now.
func mayApprove(ctx context.Context, decider *ambit.Principal, r *Record, p ambit.Proposal, about ambit.Inquiry, others []*ambit.Principal) (now *ambit.Principal, err error) {
	if now, err = about.May(ctx, decider); err != nil {
		return nil, err
	}
	if max(r.Proposal.Level, p.Level) >= ambit.FourEyes {
		others = append(slices.Clip(others), p.Requester, r.Proposal.Requester)
	}
	for _, other := range others {
		if related(decider, other) || related(now, other) {
			return nil, &ambit.Error{Code: ambit.CodeForbidden}
		}
	}
	return now, nil
}

// propose finds or makes the record.
func (a *Approvals) propose(ctx context.Context, p ambit.Proposal) (r Record, created bool, err error) {
	err = a.record(ctx, proposed(rand.Text(), &p), func(ctx context.Context, id string, e *audit.Entry) (bool, error) {
		r, created, err = a.store.Propose(ctx, id, p, a.caps, e)
		return created && r.ID == id, err
	})
	if created {
		a.old.due(time.Now())
	}
	return r, created, err
}

// reconsider takes decisions back and gives a record another preview, because of
// what somebody asked or looked at. Lost reports that a decision was taken back.
func (a *Approvals) reconsider(ctx context.Context, r Record, c Change, because *ambit.Principal) (now Record, lost bool, err error) {
	changed := false
	err = a.record(ctx, reopened(&r, &c, because), func(ctx context.Context, id string, e *audit.Entry) (bool, error) {
		now, changed, err = a.store.Reconsider(ctx, r.Proposal.Binding.Tenant, id, c, e)
		return changed, err
	})
	return now, changed && len(now.Decisions) < len(r.Decisions), err
}

// Consent records what the run's own person has answered to a prompter, see
// [ambit.Approver].
func (a *Approvals) Consent(ctx context.Context, p ambit.Proposal, allowed bool) error {
	if p.Requester == nil {
		return errors.New("approval: consent of nobody")
	}
	d := Decision{
		Decider: p.Requester.Key(), Behind: p.Requester.Behind, Name: p.Requester.Subject, Principal: p.Requester,
		Verdict: Deny, Preview: p.Preview,
	}
	if allowed {
		d.Verdict = Approve
	}
	return a.record(ctx, decided(audit.KindConsent, rand.Text(), &p, &d), func(ctx context.Context, id string, e *audit.Entry) (bool, error) {
		return true, a.store.Consent(ctx, id, p, d, e)
	})
}

// standing is what the pipeline is told of a record.
func (a *Approvals) standing(r Record) ambit.Standing {
	s := ambit.Standing{
		ID: r.ID, State: r.State, Level: r.Proposal.Level, Operation: r.Operation, Preview: r.Proposal.Preview, Version: r.Proposal.Version,
		DecideBy: r.DecideBy, ExecuteBy: r.ExecuteBy, Outcome: r.Outcome, URL: a.address(r),
	}
	for _, d := range r.Decisions {
		if d.Verdict == Deny || d.Verdict == Revoke {
			s.Reason = d.Reason
		}
	}
	return s
}

// address is where a person decides on a record, or "".
func (a *Approvals) address(r Record) string {
	if a.page == nil || r.Proposal.Level < ambit.Human {
		return ""
	}
	return a.page.JoinPath(r.ID).String()
}
