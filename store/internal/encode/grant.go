package encode

import (
	"encoding/json"
	"fmt"

	"github.com/ambit-dev/ambit/trust/approval"
)

// GrantColumns are those that a grant is read from, in the order in which Grant
// reads them.
const GrantColumns = "id, tenant, principal, capability, until, budget, used, terms, revocation"

// terms is what a grant says beside the columns.
type terms struct {
	Client           string   `json:"client,omitempty"`
	Agent            string   `json:"agent,omitempty"`
	Contract         []byte   `json:"contract"`
	Input            string   `json:"input"` // to the byte
	DecidePermission string   `json:"decidePermission"`
	Given            decision `json:"given"`
}

// Grant reads a grant of GrantColumns, and others after them.
func Grant(scan func(...any) error, more ...any) (g approval.Grant, err error) {
	var until int64
	var text, revocation []byte
	err = scan(append([]any{&g.ID, &g.Tenant, &g.Principal, &g.Capability, &until, &g.Budget, &g.Used, &text, &revocation}, more...)...)
	if err != nil {
		return approval.Grant{}, err
	}
	g.Until = ParseTime(until)
	r := reader{text: text}
	r.object(func(name []byte) bool {
		switch string(name) {
		case "client":
			g.Client = r.string()
		case "agent":
			g.Agent = r.string()
		case "contract":
			g.Contract = r.digest()
		case "input":
			g.Input = []byte(r.string())
		case "decidePermission":
			g.DecidePermission = r.string()
		case "given":
			g.Given = r.decision()
		default:
			return false
		}
		return true
	})
	if err := r.end(); err != nil {
		return approval.Grant{}, fmt.Errorf("a stored grant cannot be read: %w", err)
	}
	if len(revocation) > 0 {
		r := reader{text: revocation}
		g.Revoked = r.decision()
		if err := r.end(); err != nil {
			return approval.Grant{}, fmt.Errorf("the revocation of a stored grant cannot be read: %w", err)
		}
	}
	return g, nil
}

// NewGrant returns the values of a new grant, which is in force and unused: those of
// GrantColumns but the last.
func NewGrant(g approval.Grant) ([]any, error) {
	text, err := json.Marshal(terms{g.Client, g.Agent, g.Contract[:], string(g.Input), g.DecidePermission, fromDecision(g.Given)})
	if err != nil {
		return nil, err
	}
	return []any{g.ID, g.Tenant, g.Principal, g.Capability, Time(g.Until), g.Budget, g.Used, string(text)}, nil
}

// ChangedGrant returns the id of a grant and what can change of it: used, when it was
// revoked, 0 for not, and revocation.
func ChangedGrant(g approval.Grant) ([]any, error) {
	if g.Revoked.At.IsZero() {
		return []any{g.ID, g.Used, int64(0), nil}, nil
	}
	text, err := json.Marshal(fromDecision(g.Revoked))
	if err != nil {
		return nil, err
	}
	return []any{g.ID, g.Used, Time(g.Revoked.At), string(text)}, nil
}
