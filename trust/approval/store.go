package approval

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Record is a proposal as a [Store] keeps it. Times are the store's, by the
// database's clock where it has one; those that have not come are zero.
type Record struct {
	// ID names the record: 26 letters and digits that nobody can guess.
	ID string
	// Kind tells a question that waits from an answer given at once.
	Kind ambit.ProposalKind
	// State is how far it has come, its time considered: what has lapsed in the
	// meantime is expired or unknown here.
	State ambit.ProposalState
	// Operation is Proposal.Binding.Operation().
	Operation ambit.Digest
	// Proposal is the question as it was asked first: of a repetition that finds
	// the record pending and says something new, Preview, Version, Input and Summary
	// replace those before. One that took more than those before is as it was asked
	// then.
	Proposal ambit.Proposal
	// Decisions are the words of persons, oldest first.
	Decisions []Decision
	// Created, DecideBy, ExecuteBy, Claimed and Finished are when it was first
	// asked, when it lapses undecided and unused, and when a call claimed and
	// finished it.
	Created, DecideBy, ExecuteBy, Claimed, Finished time.Time
	// Key is the name of the idempotency key that the call which claimed it had.
	// Zero: none.
	Key ambit.Digest
	// Outcome is what the call that claimed it left, sealed. Nil: none.
	Outcome []byte
}

// Verdict is what a person said about a proposal.
type Verdict uint8

// The verdicts.
const (
	// Approve counts toward the quorum.
	Approve Verdict = iota + 1
	// Deny ends it, however many have approved.
	Deny
	// Revoke takes a proposal back that has not been executed.
	Revoke
	// SettleSucceeded and SettleFailed say what a person has found out about one
	// whose call never ended.
	SettleSucceeded
	SettleFailed
)

var verdictNames = [...]string{"", "approve", "deny", "revoke", "settle-succeeded", "settle-failed"}

// String returns the verdict's name, or "invalid".
func (v Verdict) String() string {
	if v == 0 || int(v) >= len(verdictNames) {
		return "invalid"
	}
	return verdictNames[v]
}

// Decision is the word of one person.
type Decision struct {
	// Decider is the person's [ambit.Principal.Key], and Behind those who stand
	// behind; a quorum counts deciders who share nothing.
	Decider string
	Behind  []string
	// Name is what the person is called in lists, the principal's subject.
	Name string
	// Principal is the person, as far as a store keeps principals: without Claims
	// and Value. Whether they may still decide is asked of it.
	Principal *ambit.Principal
	// Verdict is what was said.
	Verdict Verdict
	// Reason is why, in the person's words. May be empty.
	Reason string
	// Preview is the digest of the preview that the person saw, or that there was when
	// a grant approved.
	Preview ambit.Digest
	// At is when.
	At time.Time
	// Grant is the ID of the standing grant by which it was said, and Until when that
	// ends. Empty: the person was asked.
	Grant string
	Until time.Time
}

// Change is what has become of a proposal that somebody has decided, or is
// about to.
type Change struct {
	// Without are the keys of deciders whose word no longer counts.
	Without []string
	// Preview and Version are those of now. Decisions on another preview no
	// longer count either.
	Preview ambit.Digest
	Version string
	// Input and Summary are those of [ambit.Proposal] that go with the preview.
	// Nil: they are as they were.
	Input, Summary []byte
}

// Filter says which records of one tenant to list. Members that are not zero
// narrow it.
type Filter struct {
	// Tenant is whose records; there is no way to ask for those of all.
	Tenant string
	// States are those that a record may have. Empty: any.
	States []ambit.ProposalState
	// Requester is a principal key, Capability a name, Operation what it is
	// about.
	Requester, Capability string
	Operation             ambit.Digest
	// After is the cursor that the last page ended with; empty for the first.
	After string
	// Limit is how many records a page has at most. Zero: 50; most: 200.
	Limit int
}

// ClosedStates returns the states of proposals of which nothing can come any more.
func ClosedStates() []ambit.ProposalState {
	return []ambit.ProposalState{ambit.ProposalSucceeded, ambit.ProposalFailed, ambit.ProposalDenied, ambit.ProposalRevoked, ambit.ProposalExpired}
}

// Caps bound how many proposals may be pending. A new one beyond them is an
// [*ambit.Error] of CodeRateLimited with the time to wait.
type Caps struct {
	// Requester and Tenant are how many one requester and one tenant may have.
	// Zero: any number.
	Requester, Tenant int
}

// Store keeps proposals; it is the application's [ambit.Ledger] too, since a
// proposal is claimed together with a call's key. The database packages under
// store have one, and package store/storetest is the suite that says whether
// one is right. Methods are safe for concurrent use, by several processes too,
// and return when ctx ends. Each is one transaction; where an entry for the audit
// record is given, it is added in the same one. A record that is not there, or is
// another tenant's, is [ErrNotFound].
type Store interface {
	ambit.Ledger
	GrantStore

	// Propose returns the record that answers for the proposal's operation, or
	// makes one under id. At any time one record answers for an operation. It
	// ceases to when it was pending past DecideBy or approved past ExecuteBy,
	// when it was denied or revoked and the time in which it could have been
	// decided is over, and when it was executed and ExecuteWithin has passed
	// since it finished. One that was executed gives way at once where
	// its level is Confirm, or where the proposal has a Key that is not the
	// record's. While the record is pending and nobody has decided, what the
	// proposal says of Preview and Version replaces the record's, and its Input and
	// Summary with them; where they are the same, nothing is written. At the level
	// Confirm all four replace the record's each time, and its time begins anew. A
	// pending record of a lower Level than the proposal's takes over its Level,
	// Quorum, permission and times, how it came (Via, Agent, Run, Call, Request and
	// Reason), and Preview, Version, Input and Summary, loses the decisions on
	// another preview, and its time begins anew; an approved one expires and gives
	// way. Created reports that it was made, with the entry then and only then, or
	// that it takes more than before.
	Propose(ctx context.Context, id string, p ambit.Proposal, caps Caps, e *audit.Entry) (r Record, created bool, err error)
	// Consent makes a record of the kind consent, which answers for nothing.
	Consent(ctx context.Context, id string, p ambit.Proposal, d Decision, e *audit.Entry) error
	// Get returns a record.
	Get(ctx context.Context, tenant, id string) (Record, error)
	// List returns a page of records, newest first, without their inputs and
	// outcomes, and the cursor of the next page, empty at the end.
	List(ctx context.Context, f Filter) (page []Record, next string, err error)
	// Decide adds a decision, if the state allows it, and returns the record
	// afterwards. Changed is false where it does not, and nothing is added then:
	// Approve takes a record that is pending within its time, has the decision's
	// preview, and on which nobody has decided who shares Decider or one of
	// Behind with the decision; at the quorum it is approved, and ExecuteBy set. Deny takes a
	// pending one, Revoke a pending or approved one, SettleSucceeded and
	// SettleFailed an unknown one.
	Decide(ctx context.Context, tenant, id string, d Decision, e *audit.Entry) (r Record, changed bool, err error)
	// Reconsider takes back decisions of a record that is pending or approved, by
	// their deciders, and gives it what the change says of Preview, Version, Input and
	// Summary; it is pending then, and returned. The time to decide begins anew where
	// it was approved or has lost a decision. Changed is false where it is in neither state or its time is over, and where there is
	// nothing to take back and the preview is the same; nothing is done then.
	Reconsider(ctx context.Context, tenant, id string, c Change, e *audit.Entry) (r Record, changed bool, err error)
	// Forget removes records that have been closed for longer than keep, which
	// is never less than it takes for their outcomes to be repeated, and returns
	// how many. Grants that were revoked or have expired for longer go with them.
	Forget(ctx context.Context, keep time.Duration) (int, error)
}
