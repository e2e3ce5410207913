package sqlite

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit/store/internal/encode"
)

// forgetAtOnce is how many rows one transaction looks at: writers wait for it.
const forgetAtOnce = 200

// Forget removes records that have long been closed, see [approval.Store], and
// keys, nonces and rates that have expired. Other writers get their turn in
// between.
func (s *Store) Forget(ctx context.Context, keep time.Duration) (forgotten int, err error) {
	for _, expired := range []string{
		"DELETE FROM {}call WHERE key IN (SELECT key FROM {}call WHERE expires <= ? LIMIT ?)",
		"DELETE FROM {}used WHERE name IN (SELECT name FROM {}used WHERE expires <= ? LIMIT ?)",
		"DELETE FROM {}rate WHERE bucket IN (SELECT bucket FROM {}rate WHERE full <= ? LIMIT ?)",
	} {
		for removed := int64(forgetAtOnce); removed == forgetAtOnce; {
			err := s.write(ctx, func(ctx context.Context, u *unit) (err error) {
				removed, err = u.exec(ctx, expired, encode.Time(u.now), forgetAtOnce)
				return err
			})
			if err != nil {
				return 0, err
			}
		}
	}
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		before := encode.Time(u.now.Add(-keep))
		_, err := u.exec(ctx, "DELETE FROM {}standing_grant WHERE until <= ? OR revoked > 0 AND revoked <= ?", before, before)
		return err
	})
	if err != nil {
		return 0, err
	}
	var after place
	for more := true; more; {
		err := s.write(ctx, func(ctx context.Context, u *unit) (err error) {
			var removed int
			after, removed, more, err = u.forget(ctx, after, keep)
			forgotten += removed
			return err
		})
		if err != nil {
			return forgotten, err
		}
	}
	return forgotten, nil
}

// place is where a row stands in the order in which rows are forgotten.
type place struct{ closed, number int64 }

// forget looks at the next rows that have been closed for so long, and removes
// those that nothing needs. It returns where to go on.
func (u *unit) forget(ctx context.Context, after place, keep time.Duration) (last place, removed int, more bool, err error) {
	rows, err := u.query(ctx, `
		SELECT `+encode.Columns+`, closed, number FROM {}proposal p
		WHERE closed > 0 AND closed <= ? AND (closed, number) > (?, ?)
		  AND NOT EXISTS (SELECT 1 FROM {}call WHERE proposal <> '' AND proposal = p.id)
		ORDER BY closed, number LIMIT ?`, encode.Time(u.now.Add(-keep)), after.closed, after.number, forgetAtOnce)
	if err != nil {
		return after, 0, false, err
	}
	defer rows.Close()
	var done []string
	seen := 0
	for rows.Next() {
		r, err := encode.Row(rows.Scan, &last.closed, &last.number)
		if err != nil {
			return after, 0, false, err
		}
		seen++
		if r.Forgettable(u.now, keep) {
			done = append(done, r.ID)
		}
	}
	if err := rows.Err(); err != nil {
		return after, 0, false, err
	}
	for _, id := range done {
		if _, err := u.exec(ctx, "DELETE FROM {}proposal WHERE id = ?", id); err != nil {
			return after, 0, false, err
		}
	}
	return last, len(done), seen == forgetAtOnce, nil
}
