package ambit

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"
)

// maxConfirmation is how many bytes of a confirmation are looked at.
const maxConfirmation = 512

// confirmation is what a token holds: the proposal that it confirms, the preview
// that the caller was shown, and until when. It is sealed and bound to the
// operation and to the key of the agent that was given it, so that it tells
// nothing and opens for no other call.
type confirmation struct {
	id      string
	preview Digest
	expires time.Time
}

// seal writes the token.
func (c confirmation) seal(s *Sealer, operation Digest, agent AgentIdentity) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(c.expires.UnixMilli()))
	plain = append(plain, c.preview[:]...)
	plain = append(plain, c.id...)
	return base64.RawURLEncoding.EncodeToString(s.Seal(nil, plain, confirmationOf(operation, agent)))
}

// confirmationOf is what a confirmation is bound to.
func confirmationOf(operation Digest, agent AgentIdentity) []byte {
	return append(operation[:], agent.Key...)
}

// openConfirmation reads a token for an operation.
func openConfirmation(s *Sealer, token string, operation Digest, agent AgentIdentity) (c confirmation, ok bool) {
	if len(token) > maxConfirmation || strings.ContainsAny(token, "\r\n") { // which base64 passes over
		return confirmation{}, false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return confirmation{}, false
	}
	plain, err := s.Open(nil, sealed, confirmationOf(operation, agent))
	if err != nil || len(plain) <= 8+len(c.preview) {
		return confirmation{}, false
	}
	c.expires = time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	copy(c.preview[:], plain[8:])
	c.id = string(plain[8+len(c.preview):])
	return c, true
}

// confirm takes the call's confirmation. One that is good needs nothing of the
// store before the claim.
func (a *App) confirm(call *Call, in *invocation, shown shownPreview, unshown *Error) *Error {
	o := call.once
	c, ok := openConfirmation(a.seals.confirmations, in.Confirmation, o.operation, call.Agent())
	if !ok {
		return confirmationInvalid("unknown or for another call")
	}
	o.claim.Approval.ID, o.claim.Approval.Preview = c.id, c.preview
	switch {
	case !time.Now().Before(c.expires):
		return a.doneBefore(call, confirmationInvalid("expired"))
	case unshown != nil:
		return a.doneBefore(call, unshown)
	case c.preview != shown.digest:
		return a.doneBefore(call, changedSince(true))
	}
	return nil
}

// doneBefore answers a call that cannot be confirmed any more with what became of
// it, where it was made: what it did may be the very reason. Otherwise is the
// answer if it was not.
func (a *App) doneBefore(call *Call, otherwise *Error) *Error {
	record, failure := a.askLedger(call, a.options.Ledger.Find)
	switch {
	case failure != nil:
		return failure
	case record.Approval.State.begun():
		return call.stand(record.Approval)
	}
	return otherwise
}

// begun reports whether a call has claimed the proposal.
func (s ProposalState) begun() bool {
	switch s {
	case ProposalExecuting, ProposalSucceeded, ProposalFailed, ProposalUnknown:
		return true
	}
	return false
}

// confirmationInvalid has one reason for all that was not sealed for this call:
// more would help whoever made it up.
func confirmationInvalid(reason string) *Error {
	e := &Error{
		Code: CodeConfirmationInvalid, Message: "The confirmation is " + reason + ".",
		Hint: "Make the call without a confirmation to get a new one.", Details: map[string]any{"reason": reason},
	}
	if reason == "expired" {
		e.Message = "The confirmation has expired."
	}
	return e
}

// changedSince refuses a call that would do something else by now than it was
// confirmed with, or allowed by others.
func changedSince(confirmed bool) *Error {
	what, again := "allowed", "again"
	if confirmed {
		what, again = "confirmed", "again without a confirmation"
	}
	return &Error{
		Code: CodeConflict, Message: "What this call would do has changed since it was " + what + ".",
		Hint: "Make the call " + again + ", so that it is asked about as it is now.",
	}
}
