package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// The kinds of entry.
const (
	// KindCall is a call that has ended and had no intent: a read, a write, or an
	// answer that was repeated from a record.
	KindCall = "call"
	// KindRefusal is a call that was refused before its handler started.
	KindRefusal = "refusal"
	// KindIntent is a call that is about to start.
	KindIntent = "intent"
	// KindOutcome is the end of a call that had an intent.
	KindOutcome = "outcome"
	// KindProposal is a question that was put down for a person or for the
	// caller's confirmation.
	KindProposal = "proposal"
	// KindDecision is what a person said about a proposal.
	KindDecision = "decision"
	// KindGrant is a standing grant that a person gave or revoked.
	KindGrant = "grant"
	// KindConsent is what the run's own person answered at once.
	KindConsent = "consent"
	// KindGap says how many calls have no entry.
	KindGap = "gap"
	// KindPrune is a person's removal of entries that were old enough.
	KindPrune = "prune"
)

// Kinds returns all kinds of entry.
func Kinds() []string {
	return []string{KindCall, KindRefusal, KindIntent, KindOutcome, KindProposal, KindDecision, KindConsent, KindGrant, KindGap, KindPrune}
}

// Record is what an entry says. Its JSON form is the entry's body: members that
// are empty are left out, and one that a later version adds is passed over.
type Record struct {
	// Kind is one of the kinds of entry.
	Kind string `json:"kind"`
	// Tenant is whose chain the entry is in.
	Tenant string `json:"tenant,omitempty"`
	// Principal is the [ambit.Principal.Key] of who did it, the decider of a
	// decision; PrincipalKind is what sort of caller that is, and DelegatedBy the
	// key of who delegated.
	Principal     string `json:"principal,omitempty"`
	PrincipalKind string `json:"principalKind,omitempty"`
	DelegatedBy   string `json:"delegatedBy,omitempty"`
	// Agent is the agent that has proved to carry the call. Nil: none has.
	Agent *Agent `json:"agent,omitempty"`
	// Capability is the dotted name, empty where the caller asked for one that
	// does not exist for it; Own says that it is one of a single run.
	Capability string `json:"capability,omitempty"`
	Own        bool   `json:"own,omitempty"`
	// Effect is the capability's effect.
	Effect string `json:"effect,omitempty"`
	// Surface is where the call came in, Via every surface that led to it.
	Surface string `json:"surface,omitempty"`
	Via     string `json:"via,omitempty"`
	// Run, Call and Parent tie entries together, as text; Request is the id on the
	// surface.
	Run     string `json:"run,omitempty"`
	Call    string `json:"call,omitempty"`
	Parent  string `json:"parent,omitempty"`
	Request string `json:"request,omitempty"`
	// Trace is the trace-id of the caller's trace context.
	Trace string `json:"trace,omitempty"`
	// Proposal is the id of the proposal that the entry is about.
	Proposal string `json:"proposal,omitempty"`
	// Key is the digest of the client's idempotency key, in hexadecimal.
	Key string `json:"key,omitempty"`
	// Reason is why, in the words of whoever called or decided: data, not fact.
	Reason string `json:"reason,omitempty"`
	// Digest is the keyed digest of the canonical input with its secrets replaced,
	// in hexadecimal: equal inputs of one tenant have equal digests.
	Digest string `json:"digest,omitempty"`
	// Input is that input where the capability allows it to be recorded;
	// InputOmitted says that it was too large to be.
	Input        json.RawMessage `json:"input,omitempty"`
	InputOmitted bool            `json:"inputOmitted,omitempty"`

	// Began is when the call started.
	Began time.Time `json:"began,omitzero"`
	// Took is how many microseconds the call took, Waited how many of those a
	// person took to answer.
	Took   int64 `json:"tookMicros,omitempty"`
	Waited int64 `json:"waitedMicros,omitempty"`
	// Code is how it ended, empty for success. Ran says that the handler started,
	// Replayed that the answer is that of an earlier call.
	Code     string `json:"code,omitempty"`
	Ran      bool   `json:"ran,omitempty"`
	Replayed bool   `json:"replayed,omitempty"`
	// Limit is what refused the call where Code is "rate_limited".
	Limit string `json:"limit,omitempty"`
	// Faults and Repaired count what was wrong with the input or output, and
	// what was mended.
	Faults   int `json:"faults,omitempty"`
	Repaired int `json:"repaired,omitempty"`
	// InputBytes and OutputBytes are the sizes on the wire.
	InputBytes  int `json:"inputBytes,omitempty"`
	OutputBytes int `json:"outputBytes,omitempty"`

	// Level is whose word a proposal takes, or a call ran by; Quorum how many
	// persons' it takes, and Verdict what was said.
	Level   string `json:"level,omitempty"`
	Quorum  int    `json:"quorum,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// Preview is the digest of what was shown, in hexadecimal, and Version the
	// version of the target in it, which is also what a call was allowed for.
	Preview string `json:"preview,omitempty"`
	Version string `json:"version,omitempty"`
	// Grant is the id of the standing grant that a decision was made by, or that was
	// given or revoked; Granted is what it allows, in an entry of the latter.
	Grant   string   `json:"grant,omitempty"`
	Granted *Granted `json:"granted,omitempty"`

	// Gap counts what has no entry, in a gap.
	Gap *Gap `json:"gap,omitempty"`
	// Pruned says what was removed, in a prune.
	Pruned *Pruned `json:"pruned,omitempty"`
}

// Agent is an agent in a [Record].
type Agent struct {
	// URL is the agent's identifier, Key the thumbprint of its key.
	URL string `json:"url"`
	Key string `json:"key"`
	// Level is how much of the request its signature binds.
	Level string `json:"level"`
}

// Gap counts calls that have no entry because there was no room for it.
type Gap struct {
	// Reads and Refusals may be left out under pressure. Lost are outcomes that
	// could not be written: that is never so while the store works.
	Reads    int `json:"reads,omitempty"`
	Refusals int `json:"refusals,omitempty"`
	Lost     int `json:"lost,omitempty"`
	// Since and Until are when the first and the last of them ended.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Count returns how many calls have no entry.
func (g Gap) Count() int { return g.Reads + g.Refusals + g.Lost }

// Pruned says what was removed from the front of a chain.
type Pruned struct {
	// Writer names the chain, Through the last entry that was removed.
	Writer  string `json:"writer"`
	Through uint64 `json:"through"`
	// Before is the time that all of them were older than.
	Before time.Time `json:"before"`
}

// Granted says what a standing grant allows.
type Granted struct {
	// To is the [ambit.Principal.Key] of the one whose calls it is for; Client and
	// Agent, an URL, are of whom and by what they have to come. Empty: of and by
	// none.
	To     string `json:"to"`
	Client string `json:"client,omitempty"`
	Agent  string `json:"agent,omitempty"`
	// Contract is the hash of the capability's contract, in hexadecimal.
	Contract string `json:"contract"`
	// Input is the JSON Schema of the inputs.
	Input json.RawMessage `json:"input"`
	// Until is when it ends, Budget how many calls it approves, and Used how many it
	// had approved.
	Until  time.Time `json:"until"`
	Budget int       `json:"budget"`
	Used   int       `json:"used,omitempty"`
}

// NewAgent returns the agent of a record, nil where the identity is of none.
func NewAgent(a ambit.AgentIdentity) *Agent {
	if !a.Verified() {
		return nil
	}
	return &Agent{URL: a.URL, Key: a.Key, Level: a.Level.String()}
}

// Record reads the entry's body.
func (e Entry) Record() (Record, error) {
	var r Record
	if err := json.Unmarshal(e.Body, &r); err != nil {
		return Record{}, fmt.Errorf("audit: the body of entry %d of %s is not that of an entry: %w", e.Seq, e.Writer, err)
	}
	return r, nil
}

// body returns the JSON form. It cannot fail but for an input that is not JSON,
// which is left out then.
func (r Record) body() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		text.Reset()
		r.Input, r.InputOmitted = nil, true
		_ = encoder.Encode(r)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// entry returns the entry that the record is the body of, without time and place.
func (r Record) entry() Entry {
	return Entry{
		Tenant: r.Tenant, Kind: r.Kind,
		Principal: column(r.Principal), Capability: column(r.Capability), Call: column(r.Call), Run: column(r.Run), Proposal: column(r.Proposal),
		Body: r.body(),
	}
}

// column makes text such that every database takes it.
func column(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
