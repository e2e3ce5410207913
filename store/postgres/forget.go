package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit/store/internal/encode"
)

// forgetAtOnce is how many rows one transaction looks at.
const forgetAtOnce = 200

// place is where a row stands in the order in which rows are forgotten.
type place struct{ closed, number int64 }

// Forget removes records that have long been closed, see [approval.Store], and
// keys, nonces and rates that have expired.
func (s *Store) Forget(ctx context.Context, keep time.Duration) (forgotten int, err error) {
	for _, expired := range []string{
		"DELETE FROM {}call WHERE key IN (SELECT key FROM {}call WHERE expires <= (SELECT {now}) LIMIT $2 FOR UPDATE SKIP LOCKED)",
		"DELETE FROM {}used WHERE name IN (SELECT name FROM {}used WHERE expires <= (SELECT {now}) LIMIT $2 FOR UPDATE SKIP LOCKED)",
		`DELETE FROM {}rate WHERE bucket IN (SELECT bucket FROM {}rate WHERE expires <= (SELECT {now}) LIMIT $2 FOR UPDATE SKIP LOCKED)`,
	} {
		for {
			removed, err := s.pool.Exec(ctx, s.text(expired), s.ahead.Load(), forgetAtOnce)
			if err != nil {
				return 0, endedOr(ctx, err)
			}
			if removed.RowsAffected() < forgetAtOnce {
				break
			}
		}
	}
	if _, err := s.pool.Exec(ctx, s.text(`
		DELETE FROM {}standing_grant
		WHERE until <= (SELECT {now}) - $2::bigint OR revoked > 0 AND revoked <= (SELECT {now}) - $2::bigint`), s.ahead.Load(), keep.Microseconds()); err != nil {
		return 0, endedOr(ctx, err)
	}
	var after place
	for more := true; more; {
		var rows []held
		last, removed := after, 0
		err := s.transact(ctx, func(u *unit) {
			rows = nil
			u.queue(`
				SELECT `+encode.Columns+`, closed, number FROM {}proposal p
				WHERE closed > 0 AND closed <= (SELECT {now}) - $2::bigint AND (closed, number) > ($3, $4)
				  AND NOT EXISTS (SELECT 1 FROM {}call WHERE proposal <> '' AND proposal = p.id)
				ORDER BY closed, number LIMIT $5 FOR UPDATE SKIP LOCKED`, u.ahead.Load(), keep.Microseconds(), after.closed, after.number, forgetAtOnce).Query(func(found pgx.Rows) error {
				defer found.Close()
				for found.Next() {
					r, err := encode.Row(found.Scan, &last.closed, &last.number)
					if err != nil {
						return err
					}
					rows = append(rows, held{*r, true})
				}
				return found.Err()
			})
		}, func(u *unit) error {
			var done []string
			for i := range rows {
				if rows[i].Forgettable(u.now, keep) {
					done = append(done, rows[i].ID)
				}
			}
			u.queue("DELETE FROM {}proposal WHERE id = ANY ($1)", done)
			removed = len(done)
			return nil
		})
		if err != nil {
			return forgotten, err
		}
		forgotten += removed
		after, more = last, len(rows) == forgetAtOnce
	}
	return forgotten, nil
}
