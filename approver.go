package ambit

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit/schema"
)

// Approver keeps questions about calls: those that a person decides where no
// program can reach, those that the caller itself confirms, and what the run's
// own person has answered at once. Package trust/approval has it, over the
// store that is the application's [Ledger] too, so that a decision and a call
// can be tied together in one transaction.
//
// Methods are safe for concurrent use, by several processes too, and return when
// ctx ends. An error refuses the call as CodeUnavailable and is logged; an
// [*Error] of a valid code is the answer itself.
type Approver interface {
	// Propose returns the proposal that answers for an operation, or records p as
	// a new one. However often one operation is asked for, and under whatever
	// idempotency key, there is one. A proposal counts as approved as long as all
	// may decide ([Inquiry.May]) who have approved it.
	Propose(ctx context.Context, p Proposal, about Inquiry) (Standing, error)
	// Answering returns the proposal that answers for a call, as Propose would
	// find it, and records nothing. Its ID is empty: there is none.
	Answering(ctx context.Context, b Binding) (Standing, error)
	// Consent records what the run's own person has answered.
	Consent(ctx context.Context, p Proposal, allowed bool) error
	// Ledger returns the ledger that claims what was proposed here: the one that
	// the application has to have as [Options.Ledger].
	Ledger() Ledger
}

// Inquiry is what an [Approver] can find out about a call while it proposes it. It
// is of no use afterwards.
type Inquiry struct {
	// May says whether somebody who has decided, or is about to, may do so, as
	// [App.Permits] says it of Proposal.DecidePermission: an error of CodeForbidden, one
	// that leaves it open, or none and the decider as they are now.
	May func(ctx context.Context, decider *Principal) (now *Principal, err error)
	// Fits reports whether the complete input in canonical form, with secret values
	// replaced as deciders see them, satisfies a schema. False also where that could
	// not be found out within the schema's budget of work. Nil: something about this
	// very call is in doubt, so that nothing counts which was allowed before it was
	// made.
	Fits func(s *schema.Schema) bool
}

// Proposal is a question about one call.
type Proposal struct {
	// Binding is the call that the proposal is for and for no other.
	Binding Binding
	// Level is whose word it takes.
	Level Approval
	// Quorum is how many persons have to approve. At least 1.
	Quorum int
	// Requester is who asks. It is never anonymous.
	Requester *Principal
	// Via is every surface that led to the call.
	Via Surface
	// Agent is who carries the request. Zero: no verified agent.
	Agent AgentIdentity
	// Run, Call and Request tie records together, see [Event].
	Run, Call ID
	Request   string
	// Title and Effect are the capability's; Title is its name where it has none.
	Title  string
	Effect Effect
	// Reason is what the caller gives as its reason: the caller's words.
	Reason string
	// Key is the name of the record of the idempotency key that came with the
	// call, see [Claim.Key]. Zero: none came.
	Key Digest
	// Input is the canonical input and what was shown beside it, the preview whose
	// digest is Preview, sealed: [App.Review] and [App.LastReview] open it.
	Input []byte
	// Summary is a line about the call for lists, sealed: [App.Summary] opens it.
	Summary []byte
	// Preview is the digest of the preview as it is now, zero where the
	// capability has none, and Version the target's version in it.
	Preview Digest
	Version string
	// DecidePermission is what a decider has to hold.
	DecidePermission string
	// DecideWithin is how long the question stays open, for Confirm too, and
	// ExecuteWithin how long after the decision the call may be made.
	DecideWithin, ExecuteWithin time.Duration
}

// ProposalKind tells what sort of answer a record is about.
type ProposalKind uint8

// The kinds of proposal.
const (
	// KindApproval is a question that waits for the caller's confirmation or for
	// a person's decision.
	KindApproval ProposalKind = iota
	// KindConsent is the answer of the run's own person, given at once.
	KindConsent
)

// String returns "approval" or "consent", or "invalid".
func (k ProposalKind) String() string {
	switch k {
	case KindApproval:
		return "approval"
	case KindConsent:
		return "consent"
	}
	return "invalid"
}

// ProposalState is how far a proposal has come.
type ProposalState uint8

// The states of a proposal.
const (
	// ProposalPending waits to be decided, or confirmed.
	ProposalPending ProposalState = iota
	// ProposalApproved may be executed, once, until its time is over.
	ProposalApproved
	// ProposalDenied is a person's no.
	ProposalDenied
	// ProposalRevoked was taken back before it was executed.
	ProposalRevoked
	// ProposalExpired was not decided or not used in time, or what it is about
	// has changed.
	ProposalExpired
	// ProposalExecuting is claimed by a call under way.
	ProposalExecuting
	// ProposalSucceeded was executed, and its outcome is on record.
	ProposalSucceeded
	// ProposalFailed was executed and failed, and its outcome is on record.
	ProposalFailed
	// ProposalUnknown was claimed by a call that never ended: nobody can tell
	// whether it took effect, and only a person can settle it.
	ProposalUnknown
)

var proposalStateNames = [...]string{"pending", "approved", "denied", "revoked", "expired", "executing", "succeeded", "failed", "unknown"}

// String returns the state's name in lower case, or "invalid".
func (s ProposalState) String() string {
	if int(s) >= len(proposalStateNames) {
		return "invalid"
	}
	return proposalStateNames[s]
}

// Standing is how a proposal stands.
type Standing struct {
	// ID names the proposal. Whoever knows it can do nothing by it.
	ID string
	// State is how far it has come.
	State ProposalState
	// Level is whose word it takes.
	Level Approval
	// Operation is [Binding.Operation] of what it is about.
	Operation Digest
	// Preview and Version are those that it was last shown or decided with.
	Preview Digest
	Version string
	// DecideBy is when it expires undecided, ExecuteBy when it expires unused;
	// ExecuteBy is zero while it is undecided.
	DecideBy, ExecuteBy time.Time
	// Reason is what the decider gave as the reason of a denial or revocation,
	// for the requester. May be empty.
	Reason string
	// URL is where a person decides. Empty: not known.
	URL string
	// Outcome is what [Ledger.Finish] has kept as one, where State says that there is
	// one. Nil: a person has settled the call.
	Outcome []byte
}
