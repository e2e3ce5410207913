// Package encode writes the parts of proposals that databases keep as JSON. The
// numbers of levels, effects and verdicts stand in databases as they are: they
// never change.
package encode

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
	"github.com/ambit-dev/ambit/trust/approval"
)

// proposal is a question without its input, which is a column of its own.
type proposal struct {
	Tenant           string     `json:"tenant,omitempty"`
	Principal        string     `json:"principal"`
	Client           string     `json:"client,omitempty"`
	Carrier          string     `json:"carrier,omitempty"` // Binding.Agent
	Capability       string     `json:"capability"`
	Contract         []byte     `json:"contract"`
	Input            []byte     `json:"input"` // its digest
	Level            uint8      `json:"level"`
	Quorum           int        `json:"quorum"`
	Requester        *principal `json:"requester,omitempty"`
	Via              uint16     `json:"via"`
	Agent            agent      `json:"agent,omitzero"`
	Run              uint64     `json:"run"`
	Call             uint64     `json:"call"`
	Request          string     `json:"request,omitempty"`
	Title            string     `json:"title"`
	Effect           uint8      `json:"effect"`
	Reason           string     `json:"reason,omitempty"`
	Key              []byte     `json:"key,omitempty"`
	Preview          []byte     `json:"preview,omitempty"`
	Version          string     `json:"version,omitempty"`
	Summary          []byte     `json:"summary,omitempty"`
	DecidePermission string     `json:"decidePermission"`
	DecideWithin     int64      `json:"decideWithin"`
	ExecuteWithin    int64      `json:"executeWithin"`
}

type agent struct {
	URL             string `json:"url"`
	Key             string `json:"key"`
	Level           uint8  `json:"level"`
	OnceUnavailable bool   `json:"onceUnavailable,omitempty"`
}

// principal is who somebody is, without what belongs to one request.
type principal struct {
	Authority   string    `json:"authority,omitempty"`
	Subject     string    `json:"subject,omitempty"`
	Kind        uint8     `json:"kind,omitempty"`
	Tenant      string    `json:"tenant,omitempty"`
	Client      string    `json:"client,omitempty"`
	Permissions []string  `json:"permissions,omitzero"`
	Roles       []string  `json:"roles,omitzero"`
	Scopes      []string  `json:"scopes,omitzero"`
	Unscoped    bool      `json:"unscoped,omitempty"`
	Behind      []string  `json:"behind,omitzero"`
	Expires     time.Time `json:"expires,omitzero"`
}

type decision struct {
	Decider   string     `json:"decider"`
	Behind    []string   `json:"behind,omitzero"`
	Name      string     `json:"name,omitempty"`
	Principal *principal `json:"principal,omitempty"`
	Verdict   uint8      `json:"verdict"`
	Reason    string     `json:"reason,omitempty"`
	Preview   []byte     `json:"preview,omitempty"`
	At        int64      `json:"at"` // microseconds since 1970
}

// Proposal returns a proposal without its Input.
func Proposal(p ambit.Proposal) ([]byte, error) {
	b := p.Binding
	return json.Marshal(proposal{
		Tenant: b.Tenant, Principal: b.Principal, Client: b.Client, Carrier: b.Agent, Capability: b.Capability, Contract: b.Contract[:], Input: b.Input[:],
		Level: uint8(p.Level), Quorum: p.Quorum, Requester: fromPrincipal(p.Requester), Via: uint16(p.Via),
		Agent: agent{p.Agent.URL, p.Agent.Key, uint8(p.Agent.Level), p.Agent.OnceUnavailable},
		Run:   uint64(p.Run), Call: uint64(p.Call), Request: p.Request, Title: p.Title, Effect: uint8(p.Effect), Reason: p.Reason,
		Key: Digest(p.Key), Preview: Digest(p.Preview), Version: p.Version, Summary: p.Summary,
		DecidePermission: p.DecidePermission, DecideWithin: int64(p.DecideWithin), ExecuteWithin: int64(p.ExecuteWithin),
	})
}

// ParseProposal reads what Proposal wrote.
func ParseProposal(text []byte) (ambit.Proposal, error) {
	var p proposal
	if err := strictjson.Unmarshal(text, &p); err != nil {
		return ambit.Proposal{}, fmt.Errorf("a stored proposal cannot be read: %w", err)
	}
	return ambit.Proposal{
		Binding: ambit.Binding{
			Tenant: p.Tenant, Principal: p.Principal, Client: p.Client, Agent: p.Carrier, Capability: p.Capability,
			Contract: ParseDigest(p.Contract), Input: ParseDigest(p.Input),
		},
		Level: ambit.Approval(p.Level), Quorum: p.Quorum, Requester: p.Requester.principal(), Via: ambit.Surface(p.Via),
		Agent: ambit.AgentIdentity{URL: p.Agent.URL, Key: p.Agent.Key, Level: ambit.AgentLevel(p.Agent.Level), OnceUnavailable: p.Agent.OnceUnavailable},
		Run:   ambit.ID(p.Run), Call: ambit.ID(p.Call), Request: p.Request, Title: p.Title, Effect: ambit.Effect(p.Effect), Reason: p.Reason,
		Key: ParseDigest(p.Key), Preview: ParseDigest(p.Preview), Version: p.Version, Summary: p.Summary,
		DecidePermission: p.DecidePermission, DecideWithin: time.Duration(p.DecideWithin), ExecuteWithin: time.Duration(p.ExecuteWithin),
	}, nil
}

// Decisions returns the decisions on a proposal, nil for none.
func Decisions(list []approval.Decision) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	stored := make([]decision, len(list))
	for i, d := range list {
		stored[i] = decision{d.Decider, d.Behind, d.Name, fromPrincipal(d.Principal), uint8(d.Verdict), d.Reason, Digest(d.Preview), Time(d.At)}
	}
	return json.Marshal(stored)
}

// ParseDecisions reads what Decisions wrote.
func ParseDecisions(text []byte) ([]approval.Decision, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var stored []decision
	if err := strictjson.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("stored decisions cannot be read: %w", err)
	}
	list := make([]approval.Decision, len(stored))
	for i, d := range stored {
		list[i] = approval.Decision{
			Decider: d.Decider, Behind: d.Behind, Name: d.Name, Principal: d.Principal.principal(),
			Verdict: approval.Verdict(d.Verdict), Reason: d.Reason, Preview: ParseDigest(d.Preview), At: ParseTime(d.At),
		}
	}
	return list, nil
}

func fromPrincipal(p *ambit.Principal) *principal {
	if p == nil {
		return nil
	}
	return &principal{p.Authority, p.Subject, uint8(p.Kind), p.Tenant, p.Client, p.Permissions, p.Roles, p.Scopes, p.Unscoped, p.Behind, p.Expires}
}

func (p *principal) principal() *ambit.Principal {
	if p == nil {
		return nil
	}
	return &ambit.Principal{
		Authority: p.Authority, Subject: p.Subject, Kind: ambit.Kind(p.Kind), Tenant: p.Tenant, Client: p.Client,
		Permissions: p.Permissions, Roles: p.Roles, Scopes: p.Scopes, Unscoped: p.Unscoped, Behind: p.Behind, Expires: p.Expires,
	}
}

// Digest returns the bytes of a digest, nil for the zero one.
func Digest(d ambit.Digest) []byte {
	if d == (ambit.Digest{}) {
		return nil
	}
	return d[:]
}

// ParseDigest is the reverse of Digest.
func ParseDigest(b []byte) (d ambit.Digest) {
	copy(d[:], b)
	return d
}

// Attempt returns the bytes of an attempt, nil for the zero one.
func Attempt(a ambit.Attempt) []byte {
	if a == (ambit.Attempt{}) {
		return nil
	}
	return a[:]
}

// ParseAttempt is the reverse of Attempt.
func ParseAttempt(b []byte) (a ambit.Attempt) {
	copy(a[:], b)
	return a
}

// Time returns microseconds since 1970, 0 for the zero time.
func Time(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// ParseTime is the reverse of Time.
func ParseTime(microseconds int64) time.Time {
	if microseconds == 0 {
		return time.Time{}
	}
	return time.UnixMicro(microseconds).UTC()
}
