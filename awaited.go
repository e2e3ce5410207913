package ambit

import (
	"encoding/json"
	"time"
)

// Awaited is what a call that was refused waits for: the caller's own
// confirmation (CodeConfirmationRequired) or a person's decision
// (CodeApprovalPending), or what a person has decided (CodeApprovalDenied).
type Awaited struct {
	// ID names the proposal. Whoever knows it can do nothing by it.
	ID string
	// Level is whose word it takes, State how far it has come.
	Level Approval
	State ProposalState
	// Operation is [Binding.Operation] of the call. It is not on the wire. Zero:
	// the call that waits is one within it.
	Operation Digest
	// Token confirms this very call when it is repeated with it, until Expires.
	// Only CodeConfirmationRequired has it.
	Token   string
	Expires time.Time
	// DecideBy is when a person has to have decided. Zero: nobody has to.
	DecideBy time.Time
	// URL is where a person decides. Empty: not known.
	URL string
	// Reason is what a person gave as the reason of a denial. May be empty.
	Reason string
	// Preview says what the call would change, see [Preview]. Nil: the capability
	// cannot say. Only CodeConfirmationRequired has it.
	Preview json.RawMessage
}

// wireAwaited is the form of Awaited on every surface.
type wireAwaited struct {
	ID       string          `json:"id,omitempty"`
	Level    string          `json:"level"`
	State    string          `json:"state"`
	Token    string          `json:"token,omitempty"`
	Expires  *time.Time      `json:"expires,omitempty"`
	DecideBy *time.Time      `json:"decideBy,omitempty"`
	URL      string          `json:"url,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Preview  json.RawMessage `json:"preview,omitempty"`
}

// MarshalJSON writes it as the errors of every surface have it: camelCase, empty
// members left out, times as RFC 3339 has them, in UTC.
func (w Awaited) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireAwaited{
		ID: w.ID, Level: w.Level.String(), State: w.State.String(), Token: w.Token, Expires: wireTime(w.Expires), DecideBy: wireTime(w.DecideBy),
		URL: w.URL, Reason: w.Reason, Preview: w.Preview,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Awaited) UnmarshalJSON(data []byte) error {
	var wire wireAwaited
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	*w = Awaited{ID: wire.ID, Token: wire.Token, URL: wire.URL, Reason: wire.Reason, Preview: wire.Preview}
	if wire.Expires != nil {
		w.Expires = *wire.Expires
	}
	if wire.DecideBy != nil {
		w.DecideBy = *wire.DecideBy
	}
	for i, name := range approvalNames {
		if name == wire.Level {
			w.Level = Approval(i)
		}
	}
	for i, name := range proposalStateNames {
		if name == wire.State {
			w.State = ProposalState(i)
		}
	}
	return nil
}

func wireTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}
