package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Give keeps a grant, see [approval.GrantStore].
func (s *Store) Give(ctx context.Context, g approval.Grant, e *audit.Entry) (given approval.Grant, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		given = lifecycle.Given(g, u.now)
		values, err := encode.NewGrant(given)
		if err != nil {
			return err
		}
		if _, err := u.exec(ctx, "INSERT INTO {}standing_grant (id, tenant, principal, capability, until, budget, used, terms, revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", values...); err != nil {
			return err
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return approval.Grant{}, err
	}
	return given, nil
}

// Grant returns a grant, see [approval.GrantStore].
func (s *Store) Grant(ctx context.Context, tenant, id string) (g approval.Grant, err error) {
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		g, err = u.grant(ctx, tenant, id)
		return err
	})
	return g, err
}

func (u *unit) grant(ctx context.Context, tenant, id string) (approval.Grant, error) {
	g, err := encode.Grant(u.queryRow(ctx, "SELECT "+encode.GrantColumns+" FROM {}standing_grant WHERE id = ? AND tenant = ?", id, tenant).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return approval.Grant{}, approval.ErrNotFound
	}
	return g, err
}

// updateGrant writes all of a grant that can change.
func (u *unit) updateGrant(ctx context.Context, g approval.Grant) error {
	values, err := encode.ChangedGrant(g)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, "UPDATE {}standing_grant SET used = ?2, revoked = ?3, revocation = ?4 WHERE id = ?1", values...)
	return err
}

// Grants returns a page of grants, newest first, see [approval.GrantStore].
func (s *Store) Grants(ctx context.Context, f approval.GrantFilter) (page []approval.Grant, next string, err error) {
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
		if f.Principal != "" {
			where.and("principal = ?", f.Principal)
		}
		if f.Capability != "" {
			where.and("capability = ?", f.Capability)
		}
		if f.Live {
			where.and("revoked = 0 AND used < budget AND until > ?", encode.Time(u.now))
		}
		rows, err := u.query(ctx, "SELECT "+encode.GrantColumns+", number FROM {}standing_grant WHERE "+where.text+" ORDER BY number DESC LIMIT ?", append(where.args, limit+1)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		last := int64(0)
		for rows.Next() {
			if len(page) == limit {
				next = strconv.FormatInt(last, 10)
				return nil
			}
			g, err := encode.Grant(rows.Scan, &last)
			if err != nil {
				return err
			}
			page = append(page, g)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// DecideByGrant adds the word of a grant's granter, see [approval.GrantStore].
func (s *Store) DecideByGrant(ctx context.Context, tenant, id, grant string, preview ambit.Digest, e *audit.Entry) (record approval.Record, changed bool, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		g, err := u.grant(ctx, tenant, grant)
		if err != nil {
			return err
		}
		r, ok, err := u.row(ctx, "id = ? AND tenant = ?", id, tenant)
		if err != nil {
			return err
		}
		if !ok {
			return approval.ErrNotFound
		}
		var lapsed bool
		changed, lapsed = r.DecideByGrant(&g, preview, u.now)
		record = r.Record
		if changed || lapsed {
			if err := u.update(ctx, r); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		if err := u.updateGrant(ctx, g); err != nil {
			return err
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return approval.Record{}, false, err
	}
	return record, changed, nil
}

// RevokeGrant ends a grant, see [approval.GrantStore].
func (s *Store) RevokeGrant(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (g approval.Grant, lost []approval.Record, changed bool, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		lost = nil
		if g, err = u.grant(ctx, tenant, id); err != nil {
			return err
		}
		if changed = lifecycle.RevokeGrant(&g, d, u.now); !changed {
			return nil
		}
		if err := u.updateGrant(ctx, g); err != nil {
			return err
		}
		said, err := u.saidBy(ctx, g)
		if err != nil {
			return err
		}
		for _, r := range said {
			changed, loses := r.Lose(id, d, u.now)
			if changed {
				if err := u.update(ctx, r); err != nil {
					return err
				}
			}
			if loses {
				lost = append(lost, r.Record)
			}
		}
		return u.record(ctx, e)
	})
	if err != nil {
		return approval.Grant{}, nil, false, err
	}
	return g, lost, changed, nil
}

// saidBy returns the rows about which a grant has said something and that have not
// ended, oldest first.
func (u *unit) saidBy(ctx context.Context, g approval.Grant) (list []lifecycle.Row, err error) {
	rows, err := u.query(ctx, "SELECT "+encode.Columns+` FROM {}proposal
		WHERE tenant = ? AND state IN (0, 1, 5, 8) AND kind = 0 AND requester = ? AND instr(decisions, ?) > 0 ORDER BY number`, g.Tenant, encode.Text(g.Principal), g.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := encode.Row(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, *r)
	}
	return list, rows.Err()
}
