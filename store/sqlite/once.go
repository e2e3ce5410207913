package sqlite

import (
	"context"
	"strconv"
	"time"

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

// use notes a name, and removes some that have expired.
func (s *Store) use(ctx context.Context, name string, until time.Time) (fresh bool, err error) {
	err = s.write(ctx, func(ctx context.Context, u *unit) error {
		now := encode.Time(u.now)
		if _, err := u.exec(ctx, "DELETE FROM {}used WHERE name IN (SELECT name FROM {}used WHERE expires <= ? ORDER BY expires LIMIT 2)", now); err != nil {
			return err
		}
		noted, err := u.exec(ctx, `
			INSERT INTO {}used (name, expires) VALUES (?1, ?2)
			ON CONFLICT (name) DO UPDATE SET expires = ?2 WHERE expires <= ?3`, name, encode.Time(until.Add(slack)), now)
		fresh = noted == 1
		return err
	})
	return fresh && err == nil, err
}
