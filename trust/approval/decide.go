package approval

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/audit"
)

// MaxReason is the most characters that the reason of a decision may have.
const MaxReason = 200

// Ruling is what a person says about a proposal.
type Ruling struct {
	// ID is the proposal's.
	ID string
	// Verdict is what is said.
	Verdict Verdict
	// Reason is why: one line of at most [MaxReason] characters, which the
	// requester is told where the verdict is Deny or Revoke. May be empty.
	Reason string
	// Preview is [View.Seen] of what the person was shown. It counts for Approve
	// alone, which is about that preview whatever there was before it.
	Preview ambit.Digest
}

// Decide takes what a person says about a proposal, and returns the record as it
// is then. It is for the human channel, which has found out by itself that the
// person is there: the approvals page, the application's command line, or a
// dialog of the application's own. The context belongs to no run.
//
// Whoever decides holds the proposal's permission, in its tenant. Approve and the
// settling verdicts of a proposal that takes four eyes are for persons who share
// nothing with the requester; to say no, and to take an approval back, is for
// everyone who may decide. What only its caller confirms is not decided here.
//
// Errors are of type [*ambit.Error]: CodeNotFound for what is not there, is
// another tenant's, or is asked of anyone but a person; CodeForbidden;
// CodeConfirmationUnavailable where nobody decides in this process ([ambit.App.CanReview]);
// CodeInvalidInput for the reason; CodeConflict where the proposal is no longer
// in a state for it, or where what would change is no longer what the person saw.
func (a *Approvals) Decide(ctx context.Context, app *ambit.App, person *ambit.Principal, ruling Ruling) (Record, error) {
	if ruling.Verdict == 0 || ruling.Verdict > SettleFailed {
		return Record{}, ambit.Invalid("/verdict", "This is no verdict.")
	}
	if fault := reasonFault(ruling.Reason); fault != "" {
		return Record{}, ambit.Invalid("/reason", fault)
	}
	r, err := a.find(ctx, app, person, ruling.ID)
	if err != nil {
		return Record{}, err
	}
	if why := objection(&r, person, ruling.Verdict, ruling.Preview); why != nil {
		return Record{}, why
	}
	d := Decision{
		Decider: person.Key(), Behind: behindOf(person), Name: person.Subject, Principal: kept(person),
		Verdict: ruling.Verdict, Reason: ruling.Reason, Preview: r.Proposal.Preview,
	}
	if ruling.Verdict != Approve {
		return a.decide(ctx, r, d)
	}
	review, err := app.Review(ctx, r.Proposal)
	if err != nil {
		return Record{}, err
	}
	r, lost, err := a.upToDate(ctx, r, &review, person)
	if err != nil {
		return Record{}, a.failed(ctx, err)
	}
	d.Preview = ruling.Preview
	now, err := Record{}, error(changed())
	if d.Preview == review.Digest {
		now, err = a.decide(ctx, r, d)
	}
	switch {
	case !lost:
	case err != nil:
		a.tell(r)
	default:
		a.tell(now)
	}
	return now, err
}

// upToDate gives a record the preview of now where it has another, and takes the
// words about others back. The store takes an approval only while the record has
// the preview that it is about, so that what changes after this is found out.
func (a *Approvals) upToDate(ctx context.Context, r Record, review *ambit.Review, because *ambit.Principal) (now Record, lost bool, err error) {
	if review.Digest == r.Proposal.Preview && review.Version == r.Proposal.Version {
		return r, false, nil
	}
	p := &review.Proposal
	return a.reconsider(ctx, r, Change{Preview: p.Preview, Version: p.Version, Input: p.Input, Summary: p.Summary}, because)
}

// decide stores a decision that may be made.
func (a *Approvals) decide(ctx context.Context, r Record, d Decision) (now Record, err error) {
	changed := false
	err = a.record(ctx, decided(audit.KindDecision, r.ID, &r.Proposal, &d), func(ctx context.Context, id string, e *audit.Entry) (bool, error) {
		now, changed, err = a.store.Decide(ctx, r.Proposal.Binding.Tenant, id, d, e)
		return changed, err
	})
	switch {
	case err != nil:
		return Record{}, a.failed(ctx, err)
	case !changed:
		if why := objection(&now, d.Principal, d.Verdict, d.Preview); why != nil {
			return Record{}, why
		}
		return Record{}, changedMeanwhile()
	}
	a.logDecision(ctx, &now, &d)
	return now, nil
}

// logDecision tells the operator in a line who has decided what about whose call.
func (a *Approvals) logDecision(ctx context.Context, r *Record, d *Decision) {
	said := []slog.Attr{
		slog.String("capability", r.Proposal.Binding.Capability),
		slog.String("requester", visible.Text(principalkey.Name(r.Proposal.Binding.Principal))),
		slog.String("verdict", d.Verdict.String()),
		slog.String("decider", visible.Text(principalkey.Name(d.Decider))),
	}
	if d.Reason != "" {
		said = append(said, slog.String("reason", visible.Text(d.Reason)))
	}
	if tenant := r.Proposal.Binding.Tenant; tenant != "" {
		said = append(said, slog.String("tenant", visible.Text(tenant)))
	}
	said = append(said, slog.String("state", r.State.String()), slog.String("proposal", r.ID))
	a.logger.LogAttrs(ctx, slog.LevelInfo, "a person decided about a proposal", said...)
}

// find returns a record that a person may decide about.
func (a *Approvals) find(ctx context.Context, app *ambit.App, person *ambit.Principal, id string) (Record, error) {
	if !present(ctx, person) || !isID(id) {
		return Record{}, notFound()
	}
	if refused := a.elsewhere(ctx, app); refused != nil {
		return Record{}, refused
	}
	r, err := a.store.Get(ctx, person.Tenant, id)
	if err != nil {
		return Record{}, a.failed(ctx, err)
	}
	if err := a.mayDecide(ctx, app, person, r.Proposal.DecidePermission, "You may not decide this.", "Somebody decides who holds the permission for it."); err != nil {
		return Record{}, err
	}
	return r, nil
}

// isID reports whether a text can be the id of anything here: of others a store may
// say that it failed, and not that there is none.
func isID(text string) bool {
	return len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// present reports whether it can be a person who decides: no program's
// principal, and nothing that some run does.
func present(ctx context.Context, person *ambit.Principal) bool {
	return person != nil && person.Kind == ambit.KindUser && person.Subject != "" && ambit.RunFromContext(ctx) == nil
}

// elsewhere returns why nobody decides in this process, or nil.
func (a *Approvals) elsewhere(ctx context.Context, app *ambit.App) error {
	err := app.CanReview()
	if err == nil {
		return nil
	}
	a.logger.WarnContext(ctx, "somebody would decide in a process without the keys for it", slog.Any("cause", err))
	return ambit.Errorf(ambit.CodeConfirmationUnavailable, "This process has no key that opens proposals.").WithHint("Decide where the application has it.")
}

// objection returns why a person who may decide may not say that about a record
// now, to approve it with that preview, or nil.
func objection(r *Record, person *ambit.Principal, v Verdict, preview ambit.Digest) *ambit.Error {
	settles := v == SettleSucceeded || v == SettleFailed
	switch {
	case r.Kind != ambit.KindApproval:
		return ambit.Errorf(ambit.CodeConflict, "This is on record, and nothing about it is to be decided.")
	case r.Proposal.Level < ambit.Human && !settles:
		return ambit.Errorf(ambit.CodeConflict, "Only its caller confirms this call: it takes nobody's decision.")
	case !inState(r.State, v):
		return ambit.Errorf(ambit.CodeConflict, "%s", stateSentence(r.State)).WithHint("Look at the proposal as it is now.")
	case (v == Approve || settles) && r.Proposal.Level == ambit.FourEyes && related(person, r.Proposal.Requester):
		return ambit.Errorf(ambit.CodeForbidden, "This takes another pair of eyes: whoever asked for it is you, or one of you acts for the other, or both for one person.").
			WithHint("Ask somebody else who may decide.")
	case v == Approve && decidedBy(r, person, preview):
		return ambit.Errorf(ambit.CodeConflict, "This is approved already by you, or by somebody who acts for you, whom you act for, or who acts for the same person.").
			WithHint("It takes the word of somebody else as well.")
	}
	return nil
}

// inState reports whether a verdict is for a record of that state.
func inState(s ambit.ProposalState, v Verdict) bool {
	switch v {
	case Approve, Deny:
		return s == ambit.ProposalPending
	case Revoke:
		return s == ambit.ProposalPending || s == ambit.ProposalApproved
	}
	return s == ambit.ProposalUnknown
}

// decidedBy reports whether somebody who shares a person with this one has
// approved it with that preview.
func decidedBy(r *Record, person *ambit.Principal, preview ambit.Digest) bool {
	for _, d := range r.Decisions {
		if d.Verdict == Approve && d.Preview == preview && d.Principal != nil && related(person, d.Principal) {
			return true
		}
	}
	return false
}

// stateSentence says how far a proposal has come, to somebody who comes too late
// or too early.
func stateSentence(s ambit.ProposalState) string {
	switch s {
	case ambit.ProposalPending:
		return "This proposal waits to be decided."
	case ambit.ProposalApproved:
		return "This proposal is approved."
	case ambit.ProposalDenied:
		return "This proposal was denied."
	case ambit.ProposalRevoked:
		return "This proposal was revoked."
	case ambit.ProposalExpired:
		return "This proposal has expired."
	case ambit.ProposalExecuting:
		return "The call is under way."
	case ambit.ProposalSucceeded:
		return "The call was made and succeeded."
	case ambit.ProposalFailed:
		return "The call was made and failed."
	}
	return "The call began and nobody knows how it ended."
}

func isForbidden(err error) bool {
	failure, ok := errors.AsType[*ambit.Error](err)
	return ok && failure.Code == ambit.CodeForbidden
}

// reasonFault says what is wrong with a decider's reason, or "".
func reasonFault(reason string) string {
	switch {
	case !utf8.ValidString(reason) || strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }):
		return "The reason has to be one line of text."
	case utf8.RuneCountInString(reason) > MaxReason:
		return "The reason has more than 200 characters."
	}
	return ""
}

// failed makes the answer to an error of the store.
func (a *Approvals) failed(ctx context.Context, err error) error {
	if errors.Is(err, ErrNotFound) {
		return notFound()
	}
	if failure, ok := errors.AsType[*ambit.Error](err); ok {
		return failure
	}
	a.logger.ErrorContext(ctx, "approvals cannot be read or written", slog.Any("cause", err))
	return ambit.Errorf(ambit.CodeUnavailable, "Approvals cannot be read or written at the moment.").WithHint("Try again later.")
}

func notFound() *ambit.Error {
	return ambit.Errorf(ambit.CodeNotFound, "There is no such proposal.")
}

func changed() *ambit.Error {
	return ambit.Errorf(ambit.CodeConflict, "What would change is no longer what you saw. Nothing was decided.").
		WithHint("Look at the preview as it is now, and decide again.")
}

func changedMeanwhile() *ambit.Error {
	return ambit.Errorf(ambit.CodeConflict, "The proposal has changed in the meantime. Nothing was decided.").
		WithHint("Look at the proposal as it is now, and decide again.")
}
