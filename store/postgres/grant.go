package postgres

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Whoever needs both a grant and proposals locks the grant first.

// heldGrant is a grant that a transaction has looked for.
type heldGrant struct {
	approval.Grant
	found bool
}

// grant queues the search for a grant. Lock is what follows: "FOR UPDATE" or nothing.
func (u *unit) grant(into *heldGrant, lock, tenant, id string) {
	u.queue("SELECT "+encode.GrantColumns+" FROM {}standing_grant WHERE id = $1 AND tenant = $2 "+lock, id, tenant).QueryRow(func(row pgx.Row) error {
		g, err := encode.Grant(row.Scan)
		if errors.Is(err, pgx.ErrNoRows) {
			*into = heldGrant{}
			return nil
		}
		*into = heldGrant{g, err == nil}
		return err
	})
}

// updateGrant queues all of a grant that can change.
func (u *unit) updateGrant(g approval.Grant) error {
	values, err := encode.ChangedGrant(g)
	if err != nil {
		return err
	}
	u.queue("UPDATE {}standing_grant SET used = $2, revoked = $3, revocation = $4 WHERE id = $1", values...)
	return nil
}

// Give keeps a grant, see [approval.GrantStore].
func (s *Store) Give(ctx context.Context, g approval.Grant, e *audit.Entry) (given approval.Grant, err error) {
	err = s.transact(ctx, func(*unit) {}, func(u *unit) error {
		given = lifecycle.Given(g, u.now)
		values, err := encode.NewGrant(given)
		if err != nil {
			return err
		}
		u.queue("INSERT INTO {}standing_grant (id, tenant, principal, capability, until, budget, used, terms, revoked) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0)", values...)
		u.record(e)
		return nil
	})
	if err != nil {
		return approval.Grant{}, placeError(err)
	}
	return given, nil
}

// Grant returns a grant, see [approval.GrantStore].
func (s *Store) Grant(ctx context.Context, tenant, id string) (approval.Grant, error) {
	var g heldGrant
	err := s.look(ctx, func(u *unit) { u.grant(&g, "", tenant, id) })
	if err == nil && !g.found {
		err = approval.ErrNotFound
	}
	return g.Grant, err
}

// Grants returns a page of grants, newest first, see [approval.GrantStore].
func (s *Store) Grants(ctx context.Context, f approval.GrantFilter) (page []approval.Grant, next string, err error) {
	before, limit, err := lifecycle.Page(f.After, f.Limit, 50, 200)
	if err != nil {
		return nil, "", err
	}
	where := condition{}
	if f.Live { // the clock is the first argument
		where.args = []any{s.ahead.Load()}
		where.text = "revoked = 0 AND used < budget AND until > (SELECT {now})"
	}
	where.and("tenant = ?", f.Tenant)
	if before > 0 {
		where.and("number < ?", before)
	}
	if f.Principal != "" {
		where.and("principal = ?", f.Principal)
	}
	if f.Capability != "" {
		where.and("capability = ?", f.Capability)
	}
	where.args = append(where.args, limit+1)
	err = s.look(ctx, func(u *unit) {
		u.queue("SELECT "+encode.GrantColumns+", number FROM {}standing_grant WHERE "+where.text+" ORDER BY number DESC LIMIT $"+strconv.Itoa(len(where.args)), where.args...).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			var number, last int64
			for rows.Next() {
				if len(page) == limit {
					next = strconv.FormatInt(last, 10)
					return nil
				}
				g, err := encode.Grant(rows.Scan, &number)
				if err != nil {
					return err
				}
				page, last = append(page, g), number
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// DecideByGrant adds the word of a grant's granter, see [approval.GrantStore].
func (s *Store) DecideByGrant(ctx context.Context, tenant, id, grant string, preview ambit.Digest, e *audit.Entry) (record approval.Record, changed bool, err error) {
	var g heldGrant
	var r held
	err = s.transact(ctx, func(u *unit) {
		u.grant(&g, "FOR UPDATE", tenant, grant)
		u.row(&r, "id = $1 AND tenant = $2", "FOR UPDATE", id, tenant)
	}, func(u *unit) error {
		if !g.found || !r.found {
			return approval.ErrNotFound
		}
		var lapsed bool
		changed, lapsed = r.DecideByGrant(&g.Grant, preview, u.now)
		record = r.Record
		if changed {
			u.record(e)
			if err := u.updateGrant(g.Grant); err != nil {
				return err
			}
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

// RevokeGrant ends a grant, see [approval.GrantStore].
func (s *Store) RevokeGrant(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (revoked approval.Grant, lost []approval.Record, changed bool, err error) {
	var g heldGrant
	var said []lifecycle.Row
	err = s.transact(ctx, func(u *unit) {
		said = nil
		u.grant(&g, "FOR UPDATE", tenant, id)
		u.saidBy(&said, tenant, id)
	}, func(u *unit) error {
		if !g.found {
			return approval.ErrNotFound
		}
		lost = nil
		if changed = lifecycle.RevokeGrant(&g.Grant, d, u.now); !changed {
			return nil
		}
		for _, r := range said {
			changed, loses := r.Lose(id, d, u.now)
			if changed {
				if err := u.update(r); err != nil {
					return err
				}
			}
			if loses {
				lost = append(lost, r.Record)
			}
		}
		u.record(e)
		return u.updateGrant(g.Grant)
	})
	if err != nil {
		return approval.Grant{}, nil, false, placeError(err)
	}
	return g.Grant, lost, changed, nil
}

// saidBy queues the search for the rows about which a grant has said something and
// that have not ended, oldest first, and locks them.
func (u *unit) saidBy(into *[]lifecycle.Row, tenant, id string) {
	u.queue("SELECT "+encode.Columns+` FROM {}proposal
		WHERE tenant = $1 AND state IN (0, 1, 5, 8) AND kind = 0 AND strpos(decisions, $2) > 0
		  AND requester = (SELECT principal FROM {}standing_grant WHERE id = $2 AND tenant = $1)
		ORDER BY number FOR UPDATE`, tenant, id).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			r, err := encode.Row(rows.Scan)
			if err != nil {
				return err
			}
			*into = append(*into, *r)
		}
		return rows.Err()
	})
}
