package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
)

// columns are those of a row, in the order in which scan reads them.
const columns = `id, kind, state, open, operation, proposal, input, decisions,
	created, decide_by, execute_by, claimed, lapses, finished, closed, attempt, key, outcome`

// scan reads a row of these columns, and others after them.
func scan(scan func(...any) error, more ...any) (r lifecycle.Row, err error) {
	var operation, proposal, input, decisions, attempt, key []byte
	var created, decideBy, executeBy, claimed, lapses, finished, closed int64
	err = scan(append([]any{
		&r.ID, &r.Kind, &r.State, &r.Open, &operation, &proposal, &input, &decisions,
		&created, &decideBy, &executeBy, &claimed, &lapses, &finished, &closed, &attempt, &key, &r.Outcome,
	}, more...)...)
	if err != nil {
		return lifecycle.Row{}, err
	}
	if r.Proposal, err = encode.ParseProposal(proposal); err != nil {
		return lifecycle.Row{}, err
	}
	if r.Decisions, err = encode.ParseDecisions(decisions); err != nil {
		return lifecycle.Row{}, err
	}
	r.Operation, r.Proposal.Input = encode.ParseDigest(operation), input
	r.Attempt, r.Key = encode.ParseAttempt(attempt), encode.ParseDigest(key)
	r.Created, r.DecideBy, r.ExecuteBy = encode.ParseTime(created), encode.ParseTime(decideBy), encode.ParseTime(executeBy)
	r.Claimed, r.Lapses = encode.ParseTime(claimed), encode.ParseTime(lapses)
	r.Finished, r.Closed = encode.ParseTime(finished), encode.ParseTime(closed)
	return r, nil
}

// row returns the row that a condition is true of.
func (u *unit) row(ctx context.Context, condition string, args ...any) (r lifecycle.Row, found bool, err error) {
	r, err = scan(u.queryRow(ctx, "SELECT "+columns+" FROM {}proposal WHERE "+condition, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return lifecycle.Row{}, false, nil
	}
	return r, err == nil, err
}

// insert adds a row.
func (u *unit) insert(ctx context.Context, r lifecycle.Row) error {
	proposal, err := encode.Proposal(r.Proposal)
	if err != nil {
		return err
	}
	decisions, err := encode.Decisions(r.Decisions)
	if err != nil {
		return err
	}
	b := r.Proposal.Binding
	_, err = u.exec(ctx, `
		INSERT INTO {}proposal (id, tenant, requester, capability, kind, state, open, operation, proposal, input, decisions,
			created, decide_by, execute_by, claimed, lapses, finished, closed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?)`,
		r.ID, b.Tenant, b.Principal, b.Capability, int(r.Kind), int(r.State), r.Open, r.Operation[:], string(proposal), r.Proposal.Input, nullText(decisions),
		encode.Time(r.Created), encode.Time(r.DecideBy), encode.Time(r.Closed))
	return err
}

// update writes all of a row that can change.
func (u *unit) update(ctx context.Context, r lifecycle.Row) error {
	proposal, err := encode.Proposal(r.Proposal)
	if err != nil {
		return err
	}
	decisions, err := encode.Decisions(r.Decisions)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, `
		UPDATE {}proposal SET state = ?, open = ?, proposal = ?, input = ?, decisions = ?,
			decide_by = ?, execute_by = ?, claimed = ?, lapses = ?, finished = ?, closed = ?, attempt = ?, key = ?, outcome = ?
		WHERE id = ?`,
		int(r.State), r.Open, string(proposal), r.Proposal.Input, nullText(decisions),
		encode.Time(r.DecideBy), encode.Time(r.ExecuteBy), encode.Time(r.Claimed), encode.Time(r.Lapses), encode.Time(r.Finished), encode.Time(r.Closed),
		encode.Attempt(r.Attempt), encode.Digest(r.Key), r.Outcome, r.ID)
	return err
}

func nullText(text []byte) any {
	if text == nil {
		return nil
	}
	return string(text)
}
