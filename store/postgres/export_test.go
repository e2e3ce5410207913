package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Insistent returns the context of what must not be given up halfway, which lasts for
// Patience at least.
func Insistent(ctx context.Context) (context.Context, context.CancelFunc) { return insistent(ctx) }

// Patience is how long that is.
const Patience = patience

// Advance sets the clock of the store ahead.
func (s *Store) Advance(by time.Duration) { s.ahead.Add(by.Microseconds()) }

// Version returns where the row of a proposal is, which is elsewhere each time that
// it has been written.
func (s *Store) Version(ctx context.Context, id string) (place string, err error) {
	err = s.pool.QueryRow(ctx, s.text("SELECT ctid::text FROM {}proposal WHERE id = $1"), id).Scan(&place)
	return place, err
}

// Expiring counts what the store keeps for a time.
func (s *Store) Expiring(ctx context.Context) (n int, err error) {
	err = s.pool.QueryRow(ctx, s.text("SELECT (SELECT count(*) FROM {}call) + (SELECT count(*) FROM {}used) + (SELECT count(*) FROM {}rate)")).Scan(&n)
	return n, err
}

// Put adds a row as it is.
func (s *Store) Put(ctx context.Context, r lifecycle.Row) error {
	return s.transact(ctx, func(*unit) {}, func(u *unit) error { return errors.Join(u.insert(r), u.update(r)) })
}

// Rows returns all rows of a tenant, by their ids.
func (s *Store) Rows(ctx context.Context, tenant string) (map[string]lifecycle.Row, error) {
	all := make(map[string]lifecycle.Row)
	err := s.look(ctx, func(u *unit) {
		u.queue("SELECT "+encode.Columns+" FROM {}proposal WHERE tenant = $1", tenant).Query(func(rows pgx.Rows) error {
			defer rows.Close()
			for rows.Next() {
				r, err := encode.Row(rows.Scan)
				if err != nil {
					return err
				}
				all[r.ID] = *r
			}
			return rows.Err()
		})
	})
	return all, err
}

// ClaimPlain makes the claim of a proposal in one round trip, and reports whether
// that was the plain case.
func (s *Store) ClaimPlain(ctx context.Context, c ambit.Claim) (plain bool, err error) {
	return s.atOnce(ctx, func(u *unit) error {
		u.claimPlain(c)
		return nil
	})
}

// ProposePlain asks a question in one round trip, and reports whether that was the
// plain case.
func (s *Store) ProposePlain(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (r approval.Record, created, plain bool, err error) {
	var q plainQuestion
	done, err := s.atOnce(ctx, func(u *unit) error { return u.proposePlain(&q, id, p, caps, e) })
	if err != nil || !done {
		return approval.Record{}, false, false, err
	}
	r, created, plain = q.answer(id, p)
	return r, created, plain, nil
}

// Old returns a store on tables that MigrateTo has made, which it leaves as they are.
func Old(pool *pgxpool.Pool, schema string) *Store {
	return &Store{pool: pool, tables: schema + "." + DefaultPrefix, options: Options{Schema: schema, Prefix: DefaultPrefix, Keep: DefaultKeep, Outcome: DefaultOutcome}}
}

// MigrateTo brings an empty schema to an earlier version, and returns the newest
// one.
func MigrateTo(ctx context.Context, pool *pgxpool.Pool, schema string, version int64) (newest int64, err error) {
	if _, err := pool.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return 0, err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	provider, err := (&Store{tables: schema + "." + DefaultPrefix, options: Options{Schema: schema, Prefix: DefaultPrefix}}).provider(db)
	if err != nil {
		return 0, err
	}
	if version > 0 {
		_, err = provider.UpTo(ctx, version)
	}
	sources := provider.ListSources()
	return sources[len(sources)-1].Version, err
}
