package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ambit-dev/ambit/store/internal/encode"
)

// slack is how much longer than it was asked to something used is remembered: the
// clocks of those who ask differ from the database's.
const slack = time.Minute

// Nonces returns the part of the store that remembers the nonces of agents'
// signatures.
func (s *Store) Nonces() *Nonces { return &Nonces{s} }

// Nonces remembers nonces. It is safe for concurrent use.
type Nonces struct{ store *Store }

// Record notes a nonce of an agent until a time, and reports whether it was not
// noted before.
func (n *Nonces) Record(ctx context.Context, agent, nonce string, until time.Time) (fresh bool, err error) {
	return n.store.use(ctx, "nonce/"+strconv.Itoa(len(agent))+"/"+agent+nonce, until)
}

// Replays returns the part of the store that remembers proofs of possession.
func (s *Store) Replays() *Replays { return &Replays{s} }

// Replays remembers what may be used once. It is safe for concurrent use.
type Replays struct{ store *Store }

// Record notes a key until a time, and reports whether it was not noted before.
func (r *Replays) Record(ctx context.Context, key string, until time.Time) (fresh bool, err error) {
	return r.store.use(ctx, "replay/"+key, until)
}

// use notes a name, and removes some that have expired, in one round trip.
func (s *Store) use(ctx context.Context, name string, until time.Time) (fresh bool, err error) {
	err = s.send(ctx, func(u *unit) error {
		u.queue(`
			WITH old AS (
				DELETE FROM {}used WHERE name IN (SELECT name FROM {}used WHERE expires <= (SELECT {now}) AND name <> $2 ORDER BY expires LIMIT 2 FOR UPDATE SKIP LOCKED)
			)
			INSERT INTO {}used AS u (name, expires) VALUES ($2, $3)
			ON CONFLICT (name) DO UPDATE SET expires = $3 WHERE u.expires <= {now}`, s.ahead.Load(), encode.Text(name), encode.Time(until.Add(slack))).Exec(func(noted pgconn.CommandTag) error {
			fresh = noted.RowsAffected() == 1
			return nil
		})
		return nil
	})
	return fresh && err == nil, err
}
