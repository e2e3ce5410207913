package ambit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// maxIdempotencyKey is how many bytes a key may have.
	maxIdempotencyKey = 255
	// ledgerPatience is how long a call waits for its ledger.
	ledgerPatience = 5 * time.Second
	// leaseMargin is how much longer than the deadline of its handler a claim
	// holds: handlers end late, and outcomes take time to store.
	leaseMargin = time.Minute
	// repeatAfter is when to ask again for a call that is still running.
	repeatAfter = time.Second
)

// once is what a call needs whose input has a digest that counts: one that is
// destructive, has an idempotency key, needs somebody's word, or goes on record
// before it runs.
type once struct {
	key       string // of the client; "" where it chose none
	claim     Claim
	operation Digest // of the claim's binding
	claimed   bool   // the claim may have been made, and has to be settled
	joined    bool   // the outcome is part of the application's own transaction
	record    Record // of an earlier call with the same binding
	told      bool   // the failure says what became of that one
	approved  Approved
	looked    atomic.Bool // the handler asked for it
}

// repeatable reports whether a repetition of the call is answered and not made.
func (o *once) repeatable() bool {
	return o != nil && (o.claim.Key != Digest{} || o.claim.Approval.ID != "")
}

// IdempotencyKey returns the key that makes this call happen once; "" where it
// has none, and for reads, which pay no heed to keys. A handler can pass it to
// another service that understands it.
func (c *Call) IdempotencyKey() string {
	if c == nil || c.once == nil {
		return ""
	}
	return c.once.key
}

// replayed reports whether the answer is that of an earlier call.
func (c *Call) replayed() bool { return c.once != nil && c.once.record.State == RecordFinished }

// keyed reports whether the call has to happen once.
func (in *invocation) keyed() bool {
	return in.IdempotencyKey != "" && in.entry.contract.spec.Effect != Read
}

// lookUp is step 6: a call that was made before is answered from its record.
// Nothing is claimed yet.
func (a *App) lookUp(call *Call, in *invocation) *Error {
	if !in.keyed() {
		return nil
	}
	if failure := a.keyFault(call, in.IdempotencyKey); failure != nil {
		return failure
	}
	o, scope := call.once, ""
	if call.parent != nil {
		scope = call.parent.Capability()
	}
	o.key = in.IdempotencyKey
	o.claim.Key = digestOf("ambit/key/1", call.run.key, scope, o.key)
	record, failure := a.askLedger(call, a.options.Ledger.Find)
	if failure != nil {
		return failure
	}
	return o.judge(record)
}

// keyFault refuses a key that nothing can be promised for.
func (a *App) keyFault(call *Call, key string) *Error {
	switch {
	case a.options.Ledger == nil:
		return &Error{
			Code: CodeInvalidInput, Message: "This application keeps no record of keyed calls, so it cannot promise that this one runs once.",
			Hint: "Send the call without an idempotency key.",
		}
	case !validKey(key):
		return &Error{
			Code: CodeInvalidInput, Message: fmt.Sprintf("The idempotency key is not 1 to %d visible ASCII characters.", maxIdempotencyKey),
			Hint: "Use a random key, such as a UUID, for each new call.",
		}
	case call.run.who().Anonymous():
		return &Error{
			Code: CodeInvalidInput, Message: "An idempotency key needs a credential: callers who show none cannot be told apart.",
			Hint: "Send the call with a credential, or without an idempotency key.",
		}
	}
	return nil
}

func validKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != "" && len(key) <= maxIdempotencyKey
}

// judge says what a record means for a call that would make the claim. A record
// of another call says nothing about that one.
func (o *once) judge(r Record) *Error {
	switch {
	case r.State == RecordFree:
		return nil
	case r.Operation != o.operation:
		return &Error{
			Code: CodeConflict, Message: "This idempotency key stands for another call.",
			Hint: "A key is for one call and its repetitions with the same input. Use a new key for a new call.",
		}
	case r.State == RecordRunning:
		o.told = true
		return &Error{
			Code: CodeConflict, Message: "The call with this idempotency key is still running.",
			Hint: "Repeat the call with the same key to get its answer.", RetryAfter: repeatAfter, Executed: ExecutedUnknown,
		}
	case r.State == RecordUnknown:
		o.told = true
		return &Error{
			Code: CodeConflict, Message: "The call with this idempotency key was interrupted, and nobody can tell whether it took effect.",
			Hint: "Find out what it did before you make the call again, with a new key.", Executed: ExecutedUnknown,
		}
	case r.State == RecordFinished:
		o.record = r
		return nil
	}
	return &Error{Code: CodeUnavailable, cause: fmt.Errorf("the ledger returned a record in the state %d, which is none", r.State)}
}

// claim is the part of step 9 after which the call is the one that runs, or
// there is an earlier one after all.
func (a *App) claim(call *Call, in *invocation) *Error {
	o := call.once
	if a.records(call.Effect()) {
		event := call.event(in.began)
		event.Trace, event.Proposal, event.Key = in.Trace.bounded(), o.claim.Approval.ID, o.claim.Key
		o.claim.Intent = &Intent{Event: event, Input: in.observed().AppendCanonical(nil)}
	}
	if !o.repeatable() && o.claim.Intent == nil {
		return nil
	}
	_, _ = rand.Read(o.claim.Attempt[:]) // crypto/rand.Read never fails (Go 1.24)
	o.claim.Lease = call.entry.deadline + leaseMargin
	o.claimed = true
	record, failure := a.askLedger(call, a.options.Ledger.Claim)
	if failure != nil {
		return failure
	}
	if record.State != RecordFree {
		o.claimed = false
		return o.judge(record)
	}
	if record.Approval.ID != "" {
		o.claimed = false
		return call.stand(record.Approval)
	}
	if ended := call.ctx.Err(); ended != nil {
		return contextError(ended)
	}
	return nil
}

// askLedger asks for a record while nothing has happened yet.
func (a *App) askLedger(call *Call, ask func(context.Context, Claim) (Record, error)) (record Record, failure *Error) {
	err := a.withLedger(call, &call.ctx, func(ctx context.Context) (err error) {
		record, err = ask(ctx, call.once.claim)
		return err
	})
	if err != nil {
		return Record{}, call.unanswered(err)
	}
	return record, nil
}

// unanswered is the refusal of a call whose ledger or approver fails while
// nothing has happened yet.
func (c *Call) unanswered(err error) *Error {
	if ended := c.ctx.Err(); ended != nil {
		return contextError(ended)
	}
	if e, ok := errors.AsType[*Error](err); ok && e != nil && e.Code.Valid() {
		return e
	}
	return &Error{Code: CodeUnavailable, cause: fmt.Errorf("ledger: %w", err)}
}

// settle is the part of step 12 that ends a claim: by its outcome, or as if it
// had not been where the effect surely did not take place. It goes on when the
// caller has gone. Where it fails the record stays a claim, so that no
// repetition runs; the caller is told the truth all the same.
func (a *App) settle(call *Call, in *invocation, result *Result, failure *Error, event Event) {
	o := call.once
	if !o.claimed || o.joined && failure == nil {
		return
	}
	end := func(ctx context.Context) error { return a.options.Ledger.Release(ctx, o.claim) }
	if call.ran && (failure == nil || failure.Executed != ExecutedNo && call.Effect() != Read) {
		ending := Ending{Failed: failure != nil}
		if o.repeatable() {
			a.keep(call, in.frame, result, in.WantText, failure, &ending)
		}
		if o.claim.Intent != nil {
			ending.Event = &event
		}
		end = func(ctx context.Context) error { return a.options.Ledger.Finish(ctx, o.claim, ending) }
	}
	err := a.withLedger(call, context.WithoutCancel(call.ctx.parent), func(ctx context.Context) error { return insist(ctx, end) })
	if err != nil {
		a.logger.ErrorContext(call.ctx.parent, "the outcome of a claimed call was not recorded: a repetition is a conflict until a person settles it, or its key expires",
			slog.String("capability", call.Capability()), slog.String("call", call.id.String()), slog.String("proposal", o.claim.Approval.ID), call.run.logged(), slog.Any("cause", err))
	}
}

// insist tries a few times what ends a claim, in about a second: a connection
// that broke must not leave a call unknown whose outcome is known here. Ending a
// claim twice does no more than ending it once.
func insist(ctx context.Context, end func(context.Context) error) error {
	for _, pause := range [...]time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 800 * time.Millisecond} {
		err := end(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
	return end(ctx)
}

// joins reports whether a ledger's Finish would be part of a transaction of the
// application that the context carries.
func (a *App) joins(ctx context.Context) bool {
	ledger, ok := a.options.Ledger.(interface {
		Joins(ctx context.Context) bool
	})
	return ok && ledger.Joins(ctx)
}

// join ends the claim within the application's own transaction, so that what the
// handler wrote and the outcome are there together or not at all. An output that
// must not leave, or an outcome that cannot be kept, fails the handler, and its
// transaction with it.
func (a *App) join(ctx context.Context, call *Call, f frame) error {
	if faults := f.checkOutput(call.entry.contract.out); len(faults) > 0 {
		return a.invalidOutput(call, faults)
	}
	o := call.once
	var ending Ending
	if o.repeatable() {
		a.keep(call, f, &Result{}, false, nil, &ending)
	}
	err := a.withLedger(call, ctx, func(ctx context.Context) error { return a.options.Ledger.Finish(ctx, o.claim, ending) })
	if err != nil {
		return &Error{Code: CodeUnavailable, cause: fmt.Errorf("the outcome could not join the application's transaction: %w", err)}
	}
	o.joined = true
	return nil
}

// records reports whether calls of an effect go on record before they run.
func (a *App) records(e Effect) bool {
	return a.recorder != nil && a.recorder.Records(e)
}

// withLedger bounds and contains what a ledger does.
func (a *App) withLedger(call *Call, ctx context.Context, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(call.ctx.parent, call.Capability(), v)
		}
	}()
	return do(ctx)
}
