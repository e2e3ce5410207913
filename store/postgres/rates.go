package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
	"github.com/ambit-dev/ambit/store/internal/encode"
)

// Take takes a token from a bucket that fills at a rate, or says how long it
// takes until there is one, in one round trip. All instances with this database
// share it. A bucket is always used with one rate.
func (s *Store) Take(ctx context.Context, name string, r ambit.Rate) (wait time.Duration, err error) {
	limit, fault := bucket.New(r.Calls, r.Per, r.Burst)
	if fault != "" {
		return 0, fmt.Errorf("postgres: the rate of the bucket %q: %s", name, fault)
	}
	if limit == (bucket.Limit{}) {
		return 0, nil
	}
	// As package bucket counts, in microseconds.
	burst := r.Burst
	if burst == 0 {
		burst = r.Calls
	}
	interval := max(1, (r.Per.Microseconds()-1)/int64(r.Calls)+1)
	var microseconds int64
	err = s.pool.QueryRow(ctx, s.text(`
		WITH moment AS MATERIALIZED (SELECT {now} AS now),
		old AS (
			DELETE FROM {}rate WHERE bucket IN (
				SELECT bucket FROM {}rate WHERE expires <= (SELECT now FROM moment) AND bucket <> $2 ORDER BY expires LIMIT 2 FOR UPDATE SKIP LOCKED)
		),
		taken AS (
			INSERT INTO {}rate AS b (bucket, "full", expires) SELECT $2, now + $3::bigint, ((now + $3::bigint) / $5::bigint + 1) * $5::bigint FROM moment
			ON CONFLICT (bucket) DO UPDATE SET ("full", expires) = (
				SELECT later, (later / $5::bigint + 1) * $5::bigint
				FROM (SELECT now + least(greatest(b."full" - now, 0), $4::bigint) + $3::bigint AS later FROM moment) AS filling)
			WHERE (SELECT least(greatest(b."full" - now, 0), $4::bigint) + $3::bigint <= $4::bigint FROM moment)
			RETURNING 1
		)
		SELECT CASE WHEN EXISTS (SELECT 1 FROM taken) THEN 0
			ELSE greatest(1, coalesce((SELECT least("full" - now, $4::bigint) + $3::bigint - $4::bigint FROM {}rate, moment WHERE bucket = $2), $3::bigint)) END`),
		s.ahead.Load(), encode.Text(name), interval, interval*int64(burst), time.Hour.Microseconds()).Scan(&microseconds)
	return time.Duration(microseconds) * time.Microsecond, endedOr(ctx, err)
}
