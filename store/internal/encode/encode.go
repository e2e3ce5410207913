// Package encode writes the parts of proposals that databases keep as JSON. The
// numbers of levels, effects and verdicts stand in databases as they are: they
// never change.
package encode

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
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
	Grant     string     `json:"grant,omitempty"`
	Until     int64      `json:"until,omitempty"` // as At
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
func ParseProposal(text []byte) (p ambit.Proposal, err error) {
	err = parseProposal(text, &p)
	return p, err
}

// parseProposal is ParseProposal without moving what was read: it is large.
func parseProposal(text []byte, p *ambit.Proposal) error {
	r := reader{text: text}
	r.object(func(name []byte) bool {
		switch string(name) {
		case "tenant":
			p.Binding.Tenant = r.string()
		case "principal":
			p.Binding.Principal = r.string()
		case "client":
			p.Binding.Client = r.string()
		case "carrier":
			p.Binding.Agent = r.string()
		case "capability":
			p.Binding.Capability = r.string()
		case "contract":
			p.Binding.Contract = r.digest()
		case "input":
			p.Binding.Input = r.digest()
		case "level":
			p.Level = ambit.Approval(r.uint8())
		case "quorum":
			p.Quorum = int(r.int())
		case "requester":
			p.Requester = r.principal()
		case "via":
			p.Via = ambit.Surface(r.uint(16))
		case "agent":
			p.Agent = r.agent()
		case "run":
			p.Run = ambit.ID(r.uint(64))
		case "call":
			p.Call = ambit.ID(r.uint(64))
		case "request":
			p.Request = r.string()
		case "title":
			p.Title = r.string()
		case "effect":
			p.Effect = ambit.Effect(r.uint8())
		case "reason":
			p.Reason = r.string()
		case "key":
			p.Key = r.digest()
		case "preview":
			p.Preview = r.digest()
		case "version":
			p.Version = r.string()
		case "summary":
			p.Summary = r.bytes()
		case "decidePermission":
			p.DecidePermission = r.string()
		case "decideWithin":
			p.DecideWithin = time.Duration(r.int())
		case "executeWithin":
			p.ExecuteWithin = time.Duration(r.int())
		default:
			return false
		}
		return true
	})
	err := r.end()
	if err == nil && p.Requester == nil {
		err = errForm
	}
	if err != nil {
		*p = ambit.Proposal{}
		return fmt.Errorf("a stored proposal cannot be read: %w", err)
	}
	return nil
}

func (r *reader) agent() (a ambit.AgentIdentity) {
	r.object(func(name []byte) bool {
		switch string(name) {
		case "url":
			a.URL = r.string()
		case "key":
			a.Key = r.string()
		case "level":
			a.Level = ambit.AgentLevel(r.uint8())
		case "onceUnavailable":
			a.OnceUnavailable = r.bool()
		default:
			return false
		}
		return true
	})
	return a
}

// Decisions returns the decisions on a proposal, nil for none.
func Decisions(list []approval.Decision) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	stored := make([]decision, len(list))
	for i, d := range list {
		stored[i] = fromDecision(d)
	}
	return json.Marshal(stored)
}

func fromDecision(d approval.Decision) decision {
	return decision{d.Decider, d.Behind, d.Name, fromPrincipal(d.Principal), uint8(d.Verdict), d.Reason, Digest(d.Preview), Time(d.At), d.Grant, Time(d.Until)}
}

// ParseDecisions reads what Decisions wrote.
func ParseDecisions(text []byte) (list []approval.Decision, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	r := reader{text: text}
	r.sequence('[', ']', func() { list = append(list, r.decision()) })
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("stored decisions cannot be read: %w", err)
	}
	return list, nil
}

func (r *reader) decision() (d approval.Decision) {
	r.object(func(name []byte) bool {
		switch string(name) {
		case "decider":
			d.Decider = r.string()
		case "behind":
			d.Behind = r.strings()
		case "name":
			d.Name = r.string()
		case "principal":
			d.Principal = r.principal()
		case "verdict":
			d.Verdict = approval.Verdict(r.uint8())
		case "reason":
			d.Reason = r.string()
		case "preview":
			d.Preview = r.digest()
		case "at":
			d.At = ParseTime(r.int())
		case "grant":
			d.Grant = r.string()
		case "until":
			d.Until = ParseTime(r.int())
		default:
			return false
		}
		return true
	})
	return d
}

func fromPrincipal(p *ambit.Principal) *principal {
	if p == nil {
		return nil
	}
	expires := p.Expires
	if last := time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC); expires.After(last) { // JSON's times have years of four digits
		expires = last
	}
	return &principal{p.Authority, p.Subject, uint8(p.Kind), p.Tenant, p.Client, p.Permissions, p.Roles, p.Scopes, p.Unscoped, p.Behind, expires}
}

func (r *reader) principal() *ambit.Principal {
	p := new(ambit.Principal)
	r.object(func(name []byte) bool {
		switch string(name) {
		case "authority":
			p.Authority = r.string()
		case "subject":
			p.Subject = r.string()
		case "kind":
			p.Kind = ambit.Kind(r.uint8())
		case "tenant":
			p.Tenant = r.string()
		case "client":
			p.Client = r.string()
		case "permissions":
			p.Permissions = r.strings()
		case "roles":
			p.Roles = r.strings()
		case "scopes":
			p.Scopes = r.strings()
		case "unscoped":
			p.Unscoped = r.bool()
		case "behind":
			p.Behind = r.strings()
		case "expires":
			p.Expires = r.time()
		default:
			return false
		}
		return true
	})
	return p
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
