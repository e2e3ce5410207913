package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Propose returns the record that answers for an operation or makes it, see
// [approval.Store].
func (s *Store) Propose(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (record approval.Record, created bool, err error) {
	var asked plainQuestion
	done, err := s.atOnce(ctx, func(u *unit) error { return u.proposePlain(&asked, id, p, caps, e) })
	if err != nil {
		return approval.Record{}, false, err
	}
	if record, created, plain := asked.answer(id, p); done && plain {
		return record, created, nil
	}
	var open held
	var requester, tenant lifecycle.Waiting
	operation := p.Binding.Operation()
	err = s.transact(ctx, func(u *unit) {
		// The tenant's row is locked first: what is counted then cannot grow.
		u.queue("INSERT INTO {}tenant (tenant) VALUES ($1) ON CONFLICT (tenant) DO UPDATE SET tenant = excluded.tenant", p.Binding.Tenant)
		u.row(&open, "operation = $1 AND open", "FOR UPDATE", operation[:])
		u.queue(`
			SELECT count(*) FILTER (WHERE requester = $2), coalesce(min(decide_by) FILTER (WHERE requester = $2), 0), count(*), coalesce(min(decide_by), 0)
			FROM {}proposal WHERE tenant = $3 AND kind = 0 AND state = 0 AND decide_by > (SELECT {now})`,
			u.ahead.Load(), encode.Text(p.Binding.Principal), p.Binding.Tenant).QueryRow(func(row pgx.Row) error {
			var own, next int64
			err := row.Scan(&requester.Rows, &own, &tenant.Rows, &next)
			requester.Next, tenant.Next = encode.ParseTime(own), encode.ParseTime(next)
			return err
		})
	}, func(u *unit) error {
		if open.found {
			stays, changed, raised := open.Ask(p, u.now)
			if changed {
				if err := u.update(open.Row); err != nil {
					return err
				}
			}
			if stays {
				record, created = open.Record, raised
				return nil
			}
			// What gives way is no longer pending: it was not counted, or it had
			// been executed.
		}
		if err := lifecycle.TooMany(caps, requester, tenant, u.now); err != nil {
			return err
		}
		r := lifecycle.New(id, p, u.now)
		record, created = r.Record, true
		u.record(e)
		return u.insert(r)
	})
	if err != nil {
		return approval.Record{}, false, placeError(err)
	}
	return record, created, nil
}

// Consent makes a record that answers for nothing, see [approval.Store].
func (s *Store) Consent(ctx context.Context, id string, p ambit.Proposal, d approval.Decision, e *audit.Entry) error {
	return placeError(s.transact(ctx, func(*unit) {}, func(u *unit) error {
		u.record(e)
		return u.insert(lifecycle.Consent(id, p, d, u.now))
	}))
}

// Get returns a record, see [approval.Store].
func (s *Store) Get(ctx context.Context, tenant, id string) (approval.Record, error) {
	var now time.Time
	var r held
	err := s.look(ctx, func(u *unit) {
		u.row(&r, "id = $1 AND tenant = $2", "", id, tenant)
		u.readClock(&now)
	})
	switch {
	case err != nil:
		return approval.Record{}, err
	case !r.found:
		return approval.Record{}, approval.ErrNotFound
	}
	r.Lapse(now)
	return r.Record, nil
}

// state is the state of a row at the time that column now says: what
// lifecycle.Row.Lapse makes of it.
const state = `CASE WHEN kind = 1 THEN state
	WHEN state = 0 AND decide_by <= now OR state = 1 AND execute_by <= now THEN 4
	WHEN state = 5 AND lapses <= now THEN 8
	ELSE state END`

// List returns a page of records, newest first, see [approval.Store].
func (s *Store) List(ctx context.Context, f approval.Filter) (page []approval.Record, next string, err error) {
	before, limit, err := lifecycle.Page(f.After, f.Limit, 50, 200)
	if err != nil {
		return nil, "", err
	}
	where := condition{args: []any{s.ahead.Load()}}
	where.and("tenant = ?", f.Tenant)
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
	from := "clock"
	if len(f.States) > 0 {
		// Each state is searched for by itself, since an index has its rows in order;
		// those of several at once would all have to be sorted.
		where.args = append(where.args, numbers(lifecycle.Written(f.States)))
		from += ", unnest($" + strconv.Itoa(len(where.args)) + "::smallint[]) AS written"
		where.and("state = written AND ("+state+") = ANY (?)", numbers(f.States))
	}
	where.args = append(where.args, limit+1)
	newest := " ORDER BY number DESC LIMIT $" + strconv.Itoa(len(where.args))
	err = s.look(ctx, func(u *unit) {
		u.queue(`
			WITH clock AS MATERIALIZED (SELECT {now} AS now)
			SELECT page.*, now FROM `+from+`, LATERAL (
				SELECT `+encode.ListColumns("NULL::bytea")+`, number FROM {}proposal WHERE `+where.text+newest+`
			) AS page`+newest, where.args...).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			var number, last, now int64
			read := encode.NewReader(&number, &now)
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
				r.Lapse(encode.ParseTime(now))
				page, last = append(page, r.Record), number
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

func numbers(states []ambit.ProposalState) (list []int16) {
	for _, state := range states {
		list = append(list, int16(state))
	}
	return list
}

// condition is a WHERE clause in the making. Question marks are numbered.
type condition struct {
	text string
	args []any
}

func (c *condition) and(text string, arg any) {
	c.args = append(c.args, arg)
	if c.text != "" {
		c.text += " AND "
	}
	c.text += strings.Replace(text, "?", "$"+strconv.Itoa(len(c.args)), 1)
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
	var r held
	err = s.transact(ctx, func(u *unit) {
		u.row(&r, "id = $1 AND tenant = $2", "FOR UPDATE", id, tenant)
	}, func(u *unit) error {
		if !r.found {
			return approval.ErrNotFound
		}
		var lapsed bool
		changed, lapsed = do(&r.Row, u.now)
		record = r.Record
		if changed {
			u.record(e)
		}
		if changed || lapsed {
			return u.update(r.Row)
		}
		return nil
	})
	if err != nil {
		return approval.Record{}, false, placeError(err)
	}
	return record, changed, nil
}

// placeError says in words that an entry's place or a record's name is taken, or
// that there was no claim to finish.
func placeError(err error) error {
	switch {
	case err == nil:
		return nil
	case violates(err, "entry_place"), fails(err, "23502"):
		return errors.New("postgres: another audit entry has this place in its chain")
	case violates(err, "proposal_id"):
		return errors.New("postgres: another proposal has this id")
	case fails(err, "22012"):
		return errNoClaim
	}
	return err
}
