package encode

import (
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
)

// Columns are those that a row is read from, in the order in which Row reads
// them.
const Columns = `id, kind, state, open, operation, proposal, input, decisions,
	created, decide_by, execute_by, claimed, lapses, finished, closed, attempt, key, outcome`

// ListColumns are Columns for a list, with nothing, which is how the database writes
// NULL, instead of the input and the outcome.
func ListColumns(nothing string) string {
	return strings.NewReplacer("input,", nothing+",", "outcome", nothing).Replace(Columns)
}

// Row reads a row of Columns, and others after them.
func Row(scan func(...any) error, more ...any) (*lifecycle.Row, error) {
	return NewReader(more...).Row(scan)
}

// Reader reads one row of Columns after the other into the same memory.
type Reader struct {
	row                                                               lifecycle.Row
	operation, proposal, input, decisions, attempt, key               []byte
	created, decideBy, executeBy, claimed, lapses, finished, closedAt int64

	into []any // all of them, in the order of Columns
}

// NewReader returns a reader that puts what follows Columns into these.
func NewReader(more ...any) *Reader {
	c := new(Reader)
	r := &c.row
	c.into = append([]any{
		&r.ID, &r.Kind, &r.State, &r.Open, &c.operation, &c.proposal, &c.input, &c.decisions,
		&c.created, &c.decideBy, &c.executeBy, &c.claimed, &c.lapses, &c.finished, &c.closedAt, &c.attempt, &c.key, &r.Outcome,
	}, more...)
	return c
}

// Row reads a row, which is the reader's until the next one: what it refers to is not.
func (c *Reader) Row(scan func(...any) error) (*lifecycle.Row, error) {
	c.row = lifecycle.Row{}
	r := &c.row
	err := scan(c.into...)
	if err != nil {
		return nil, err
	}
	if err := parseProposal(c.proposal, &r.Proposal); err != nil {
		return nil, err
	}
	if r.Decisions, err = ParseDecisions(c.decisions); err != nil {
		return nil, err
	}
	r.Operation, r.Proposal.Input = ParseDigest(c.operation), c.input
	r.Attempt, r.Key = ParseAttempt(c.attempt), ParseDigest(c.key)
	r.Created, r.DecideBy, r.ExecuteBy = ParseTime(c.created), ParseTime(c.decideBy), ParseTime(c.executeBy)
	r.Claimed, r.Lapses = ParseTime(c.claimed), ParseTime(c.lapses)
	r.Finished = ParseTime(c.finished)
	if !waits(r) {
		r.Closed = ParseTime(c.closedAt)
	}
	return r, nil
}

// NewColumns are those that a new row has something in, in the order of New.
const NewColumns = "id, tenant, requester, capability, kind, state, open, operation, proposal, input, decisions, created, decide_by, closed"

// New returns the values of NewColumns.
func New(r lifecycle.Row) ([]any, error) {
	proposal, decisions, err := texts(r)
	if err != nil {
		return nil, err
	}
	b := r.Proposal.Binding
	return []any{
		r.ID, b.Tenant, Text(b.Principal), b.Capability, int(r.Kind), int(r.State), r.Open, r.Operation[:], proposal, r.Proposal.Input, decisions,
		Time(r.Created), Time(r.DecideBy), closes(r),
	}, nil
}

// Changed returns the id of a row and then the values of what can change: state,
// open, proposal, input, decisions, decide_by, execute_by, claimed, lapses,
// finished, closed, attempt, key and outcome.
func Changed(r lifecycle.Row) ([]any, error) {
	proposal, decisions, err := texts(r)
	if err != nil {
		return nil, err
	}
	return []any{
		r.ID, int(r.State), r.Open, proposal, r.Proposal.Input, decisions,
		Time(r.DecideBy), Time(r.ExecuteBy), Time(r.Claimed), Time(r.Lapses), Time(r.Finished), closes(r),
		Attempt(r.Attempt), Digest(r.Key), r.Outcome,
	}, nil
}

// waits reports whether the row closes by itself when its time is over.
func waits(r *lifecycle.Row) bool {
	return r.Kind == ambit.KindApproval && (r.State == ambit.ProposalPending || r.State == ambit.ProposalApproved)
}

// closes is when a row was closed or will be if nothing happens, which is what it
// is forgotten by.
func closes(r lifecycle.Row) int64 {
	if waits(&r) {
		until, _ := r.AnswersUntil()
		return Time(until)
	}
	return Time(r.Closed)
}

func texts(r lifecycle.Row) (proposal string, decisions *string, err error) {
	text, err := Proposal(r.Proposal)
	if err != nil {
		return "", nil, err
	}
	list, err := Decisions(r.Decisions)
	if err != nil || list == nil {
		return string(text), nil, err
	}
	words := string(list)
	return string(text), &words, nil
}
