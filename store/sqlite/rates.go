package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
	"github.com/ambit-dev/ambit/store/internal/encode"
)

// Take takes a token from a bucket that fills at a rate, or says how long it
// takes until there is one. All processes with this database share it. A bucket
// is always used with one rate. Within a transaction of [Store.WithTx] the token is
// taken with the transaction, or not at all.
func (s *Store) Take(ctx context.Context, name string, r ambit.Rate) (wait time.Duration, err error) {
	limit, fault := bucket.New(r.Calls, r.Per, r.Burst)
	if fault != "" {
		return 0, fmt.Errorf("sqlite: the rate of the bucket %q: %s", name, fault)
	}
	if limit == (bucket.Limit{}) {
		return 0, nil
	}
	err = s.joining(ctx, func(ctx context.Context, u *unit) error {
		now := encode.Time(u.now)
		if _, err := u.exec(ctx, "DELETE FROM {}rate WHERE bucket IN (SELECT bucket FROM {}rate WHERE full <= ? ORDER BY full LIMIT 2)", now); err != nil {
			return err
		}
		var full int64
		err := u.queryRow(ctx, "SELECT full FROM {}rate WHERE bucket = ?", name).Scan(&full)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		b := bucket.Saved(full * int64(time.Microsecond))
		if wait = b.Wait(limit, u.now); wait > 0 {
			return nil
		}
		b.Take(limit, u.now)
		_, err = u.exec(ctx, "INSERT OR REPLACE INTO {}rate (bucket, full) VALUES (?, ?)", name, (b.Save()-1)/int64(time.Microsecond)+1)
		return err
	})
	return wait, err
}
