package ambit

import (
	"context"
	"time"
)

// Ledger records what must happen once, so that repeating a call answers it and
// does not make it again. It is the one thing that the pipeline asks of a store.
// Implementations: trust/idempotency in memory; databases in their own packages.
//
// A call that must happen once makes a claim before its handler starts and
// settles it afterwards. Everything that one call takes is in one [Claim]: the
// client's key, the proposal that allows it ([Approver]), and the intent that an
// audit record needs. An implementation takes it in one transaction with one
// winner; that is also why there is one Ledger and not an interface for every
// kind of record.
//
// The pipeline decides, the Ledger remembers: who may call, whether a record
// belongs to the same call, and what a caller is told are not its business. It
// never sees a key, an input or an outcome in clear. Times are the Ledger's own,
// those of its database for instance, so that instances whose clocks differ
// agree.
//
// Methods are safe for concurrent use, also by several processes where the
// records are shared. They return when ctx ends; the pipeline gives them five
// seconds. An error refuses the call as CodeUnavailable before anything has
// happened, and its text is logged; an [*Error] of a valid code is the answer
// itself. After an error of Claim the pipeline releases the claim, because
// nobody can tell whether it was made.
//
// A Ledger that also has the method
//
//	Ready() (notice string, err error)
//
// is asked once, by [App.Freeze]: an error keeps the application from starting,
// and the notice is among [App.Notices]. One that hands its work on to another, as
// an audit log does, says so by a method Unwrap() Ledger. See also [Joiner] and
// [Recorder].
type Ledger interface {
	// Find returns the record that stands in the way of a claim, and changes
	// nothing. Attempt and Lease of the claim are not set.
	Find(ctx context.Context, c Claim) (Record, error)
	// Claim takes all that the claim names, or nothing: then the record that
	// stands in the way is returned. RecordFree says that the claim was made.
	// It is a transaction of its own, done when Claim returns: were it part of
	// the application's, a second call could not see it.
	Claim(ctx context.Context, c Claim) (Record, error)
	// Finish keeps the outcome of a claim that Claim made, found by its
	// Attempt, even where the lease has lapsed in the meantime. Where ctx
	// carries a transaction of the application on the same database, the
	// outcome may join it, so that both are there or neither is. An
	// implementation that cannot keep so many bytes keeps the receipt in the place
	// of the outcome, and where it cannot keep that, that the call has ended.
	// Finishing a claim that is not there is an error; finishing one again that the
	// same Attempt has finished is none, and changes nothing: the pipeline tries
	// again after an error.
	Finish(ctx context.Context, c Claim, e Ending) error
	// Release gives back what Claim took, found by its Attempt: nothing has
	// happened. It does nothing where the claim is not there or was finished.
	Release(ctx context.Context, c Claim) error
}

// Joiner is a [Ledger] on a database that the application may have a transaction
// of its own open on.
type Joiner interface {
	Ledger
	// Joins reports whether ctx carries such a transaction, so that Finish would
	// be part of it. The pipeline finishes a call within its handler's context
	// then, right behind the handler and before the middleware that the
	// transaction may be from.
	Joins(ctx context.Context) bool
}

// Recorder is a [Ledger] that keeps a record of calls, such as an audit log. If
// it also has the method Observer() Observer, that observer is among the
// application's.
type Recorder interface {
	Ledger
	// Records reports whether calls of an effect have to be on record before they
	// run: each makes a claim with an [Intent], whether it has a key or an
	// approval or neither.
	Records(effect Effect) bool
}

// Claim is what one call takes before its handler starts.
type Claim struct {
	// Attempt tells this claim from every other, those for the same key
	// included. It is random.
	Attempt Attempt
	// Key is the name of the record of a key that the client chose. Principals
	// share no names, so that nobody can come upon, or occupy, the key of
	// somebody else; neither do clients and handlers that give keys.
	// The zero Key: the client chose none.
	Key Digest
	// Approval is the proposal that allows the call. Its ID is empty: none is
	// needed.
	Approval ApprovalClaim
	// Intent says that the call has to be on record before it starts, and what
	// of it. Nil: it has not.
	Intent *Intent
	// Binding is the call that the claim is for.
	Binding Binding
	// Lease is how long the call may take. A claim that is neither finished nor
	// released by then was lost with its process: its record is
	// RecordUnknown.
	Lease time.Duration
}

// ApprovalClaim is the part of a [Claim] that is about a proposal. The claim is
// made where the proposal is approved and its time is not over, or pending where
// Level is Confirm, and where Preview is the one that it was decided with; one
// with another preview has expired by that.
type ApprovalClaim struct {
	// ID is [Standing.ID].
	ID string
	// Level is whose word the call takes.
	Level Approval
	// Preview is the digest of the preview as it is now.
	Preview Digest
}

// Intent is what a record says of a call before it starts.
type Intent struct {
	// Event is the call as [Observer.Start] was told of it.
	Event Event
	// Input is the canonical input with its secrets replaced. It must not be
	// kept.
	Input []byte
}

// Ending is how a claimed call has ended.
type Ending struct {
	// Failed says that it ended with an error, of which the outcome tells.
	Failed bool
	// Outcome is what there is to repeat, sealed. A ledger must not change it.
	Outcome []byte
	// Receipt takes its place where it is too large to keep: a few hundred bytes,
	// sealed. Nil: Outcome is a receipt itself, or no larger than one.
	Receipt []byte
	// Event is the call as [Observer.Finish] is about to be told of it, where the
	// claim has an Intent. Nil: that is not known yet, as where the outcome joins
	// a transaction of the application.
	Event *Event
}

// Attempt identifies one claim.
type Attempt [16]byte

// RecordState is how far the call of a [Record] has come.
type RecordState uint8

// The states of a record.
const (
	// RecordFree is the state of a key that nothing is recorded under.
	RecordFree RecordState = iota
	// RecordRunning is a claim within its lease.
	RecordRunning
	// RecordUnknown is a claim whose lease has lapsed: nobody can tell whether
	// its call took effect.
	RecordUnknown
	// RecordFinished is a claim whose call has ended.
	RecordFinished
)

// Record is what a [Ledger] holds under a key until it forgets it, a day after
// the claim unless it is told otherwise.
type Record struct {
	// State is how far the call has come.
	State RecordState
	// Operation is [Binding.Operation] of the claim that made the record.
	Operation Digest
	// Outcome is [Ending.Outcome] as Finish was given it, or [Ending.Receipt]. Nil:
	// there was none, as where a person has settled the call. It must not be changed.
	Outcome []byte
	// By is how the proposal stands that the call under the key was made by, its ID
	// and State and no more: a person may have settled it, and left no outcome. Zero:
	// there is none.
	By Standing
	// Approval is how the proposal of the claim stands, where that is what
	// stands in the way: State is RecordFree then, unless the key does too. Its
	// ID is empty: nothing is in the way of the proposal, or there is none.
	Approval Standing
}
