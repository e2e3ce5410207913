package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Propose returns the record that answers for an operation or makes it, see
// [approval.Store].
func (s *Store) Propose(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (record approval.Record, created bool, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		operation := p.Binding.Operation()
		r, open, err := u.row(ctx, "operation = ? AND open = 1", operation[:])
		if err != nil {
			return err
		}
		if open {
			stays, changed, raised := r.Ask(p, u.now)
			if changed {
				if err := u.update(ctx, r); err != nil {
					return err
				}
			}
			if stays {
				record, created = r.Record, raised
				return nil
			}
		}
		if err := u.tooMany(ctx, p, caps); err != nil {
			return err
		}
		r = lifecycle.New(id, p, u.now)
		record, created = r.Record, true
		if err := u.insert(ctx, r); err != nil {
			return err
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return approval.Record{}, false, err
	}
	return record, created, nil
}

// tooMany holds the caps.
func (u *unit) tooMany(ctx context.Context, p ambit.Proposal, caps approval.Caps) error {
	var requester, tenant lifecycle.Waiting
	var own, next int64
	err := u.queryRow(ctx, `
		SELECT count(*) FILTER (WHERE requester = ?1), coalesce(min(decide_by) FILTER (WHERE requester = ?1), 0), count(*), coalesce(min(decide_by), 0)
		FROM {}proposal WHERE tenant = ?2 AND kind = 0 AND state = 0 AND decide_by > ?3`,
		encode.Text(p.Binding.Principal), p.Binding.Tenant, encode.Time(u.now)).Scan(&requester.Rows, &own, &tenant.Rows, &next)
	if err != nil {
		return err
	}
	requester.Next, tenant.Next = encode.ParseTime(own), encode.ParseTime(next)
	return lifecycle.TooMany(caps, requester, tenant, u.now)
}

// Consent makes a record that answers for nothing, see [approval.Store].
func (s *Store) Consent(ctx context.Context, id string, p ambit.Proposal, d approval.Decision, e *audit.Entry) error {
	return s.write(ctx, func(ctx context.Context, u *unit) error {
		if err := u.insert(ctx, lifecycle.Consent(id, p, d, u.now)); err != nil {
			return err
		}
		return u.record(ctx, e)
	})
}

// Get returns a record, see [approval.Store].
func (s *Store) Get(ctx context.Context, tenant, id string) (record approval.Record, err error) {
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		r, ok, err := u.row(ctx, "id = ? AND tenant = ?", id, tenant)
		if err != nil {
			return err
		}
		if !ok {
			return approval.ErrNotFound
		}
		r.Lapse(u.now)
		record = r.Record
		return nil
	})
	return record, err
}

// state is the state of a row at a time, which its three question marks stand
// for: what lifecycle.Row.Lapse makes of it.
const state = `CASE WHEN kind = 1 THEN state
	WHEN state = 0 AND decide_by <= ? OR state = 1 AND execute_by <= ? THEN 4
	WHEN state = 5 AND lapses <= ? THEN 8
	ELSE state END`

// List returns a page of records, newest first, see [approval.Store].
func (s *Store) List(ctx context.Context, f approval.Filter) (page []approval.Record, next string, err error) {
	before, limit, err := lifecycle.Page(f.After, f.Limit, 50, 200)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		page, next = nil, ""
		where := condition{"tenant = ?", []any{f.Tenant}}
		if before > 0 {
			where.and("number < ?", before)
		}
		if f.Requester != "" {
			where.and("requester = ?", encode.Text(f.Requester))
		}
		if f.Capability != "" {
			where.and("capability = ?", f.Capability)
		}
		if f.Operation != (ambit.Digest{}) {
			where.and("operation = ?", f.Operation[:])
		}
		statement, args := search(where, f.States, encode.Time(u.now), limit+1)
		rows, err := u.query(ctx, statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		last := int64(0)
		read := encode.NewReader(&last)
		for rows.Next() {
			if len(page) == limit {
				next = strconv.FormatInt(last, 10)
				return nil
			}
			r, err := read.Row(rows.Scan)
			if err != nil {
				return err
			}
			if page == nil {
				page = make([]approval.Record, 0, limit)
			}
			r.Lapse(u.now)
			page = append(page, r.Record)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// search returns the statement that finds the newest rows of a condition which are in
// one of these states now, or in any. Each state is searched for by itself, since an
// index has its rows in order; those of several at once would all have to be sorted.
func search(where condition, states []ambit.ProposalState, now int64, limit int) (statement string, args []any) {
	one := func(where condition) string {
		args = append(append(args, where.args...), limit)
		return "SELECT " + encode.ListColumns("NULL") + ", number FROM {}proposal WHERE " + where.text + " ORDER BY number DESC LIMIT ?"
	}
	var found []string
	for _, written := range lifecycle.Written(states) {
		each := condition{where.text, slices.Clone(where.args)}
		each.and("state = ?", int(written))
		each.among(state, states, now, now, now)
		found = append(found, one(each))
	}
	switch len(found) {
	case 0:
		return one(where), args
	case 1:
		return found[0], args
	}
	return "SELECT * FROM (" + strings.Join(found, ") UNION ALL SELECT * FROM (") + ") ORDER BY number DESC LIMIT ?", append(args, limit)
}

// condition is a WHERE clause in the making.
type condition struct {
	text string
	args []any
}

// among adds that something is one of these states. Args are those of what it is.
func (c *condition) among(what string, states []ambit.ProposalState, args ...any) {
	c.and(what+" IN (?"+strings.Repeat(", ?", len(states)-1)+")", args...)
	for _, state := range states {
		c.args = append(c.args, int(state))
	}
}

func (c *condition) and(text string, args ...any) {
	c.text += " AND " + text
	c.args = append(c.args, args...)
}

// Decide adds a decision, see [approval.Store].
func (s *Store) Decide(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (approval.Record, bool, error) {
	return s.change(ctx, tenant, id, e, func(r *lifecycle.Row, now time.Time) (bool, bool) { return r.Decide(d, now) })
}

// Reconsider takes decisions back, see [approval.Store].
func (s *Store) Reconsider(ctx context.Context, tenant, id string, c approval.Change, e *audit.Entry) (approval.Record, bool, error) {
	return s.change(ctx, tenant, id, e, func(r *lifecycle.Row, now time.Time) (bool, bool) { return r.Reconsider(c, now) })
}

// change does something to a record that a person has asked for.
func (s *Store) change(ctx context.Context, tenant, id string, e *audit.Entry,
	do func(*lifecycle.Row, time.Time) (changed, lapsed bool),
) (record approval.Record, changed bool, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		r, ok, err := u.row(ctx, "id = ? AND tenant = ?", id, tenant)
		if err != nil {
			return err
		}
		if !ok {
			return approval.ErrNotFound
		}
		var lapsed bool
		changed, lapsed = do(&r, u.now)
		record = r.Record
		if changed || lapsed {
			if err := u.update(ctx, r); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return approval.Record{}, false, err
	}
	return record, changed, nil
}
