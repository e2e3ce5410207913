package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// Keys returns the part of the store that keeps API keys.
func (s *Store) Keys() apikey.Store { return keyStore{s} }

type keyStore struct{ store *Store }

func (k keyStore) ByHash(ctx context.Context, hash string) (apikey.Record, bool, error) {
	return k.find(ctx, "hash = $1", hash)
}

func (k keyStore) ByName(ctx context.Context, name string) (apikey.Record, bool, error) {
	return k.find(ctx, "name = $1", name)
}

// heldKey is a record that a transaction has looked for.
type heldKey struct {
	apikey.Record
	found bool
}

func (u *unit) apiKey(into *heldKey, condition, lock, value string) {
	u.queue("SELECT record FROM {}api_key WHERE "+condition+" "+lock, value).QueryRow(func(row pgx.Row) error {
		r, err := scanKey(row)
		if *into = (heldKey{r, err == nil}); errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

func scanKey(row pgx.Row) (r apikey.Record, err error) {
	var text []byte
	if err := row.Scan(&text); err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return apikey.Record{}, fmt.Errorf("postgres: a stored API key cannot be read: %w", err)
	}
	return r, nil
}

func (k keyStore) find(ctx context.Context, condition, value string) (apikey.Record, bool, error) {
	var r heldKey
	err := k.store.look(ctx, func(u *unit) { u.apiKey(&r, condition, "", value) })
	return r.Record, r.found, err
}

func (k keyStore) List(ctx context.Context, after string, limit int) ([]apikey.Record, error) {
	rows, err := k.store.pool.Query(ctx, k.store.text("SELECT record FROM {}api_key WHERE name > $1 ORDER BY name LIMIT $2"), after, max(limit, 0))
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (apikey.Record, error) { return scanKey(row) })
	return list, endedOr(ctx, err)
}

func (k keyStore) Add(ctx context.Context, r apikey.Record) error {
	return keyError(k.store.send(ctx, func(u *unit) error { return u.addKey(r) }))
}

// addKey queues a new record. It fails where name or hash are taken.
func (u *unit) addKey(r apikey.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	u.queue("INSERT INTO {}api_key (name, hash, record) VALUES ($1, $2, $3)", r.Name, r.Hash, string(text))
	return nil
}

func keyError(err error) error {
	if fails(err, "23505") {
		return apikey.ErrExists
	}
	return err
}

func (k keyStore) Replace(ctx context.Context, r apikey.Record, until time.Time) error {
	return k.change(ctx, r.Replaces, func(u *unit, old *apikey.Record) error {
		if !old.Live(u.now) {
			return apikey.ErrEnded
		}
		expire(old, until)
		return u.addKey(r)
	})
}

func (k keyStore) Expire(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(_ *unit, r *apikey.Record) error {
		expire(r, at)
		return nil
	})
}

func (k keyStore) Revoke(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(_ *unit, r *apikey.Record) error {
		if r.Revoked.IsZero() {
			r.Revoked = at
		}
		return nil
	})
}

func (k keyStore) change(ctx context.Context, name string, do func(*unit, *apikey.Record) error) error {
	var r heldKey
	return keyError(k.store.transact(ctx, func(u *unit) {
		u.apiKey(&r, "name = $1", "FOR UPDATE", name)
	}, func(u *unit) error {
		if !r.found {
			return apikey.ErrUnknown
		}
		if err := do(u, &r.Record); err != nil {
			return err
		}
		text, err := json.Marshal(r.Record)
		if err != nil {
			return err
		}
		u.queue("UPDATE {}api_key SET record = $2 WHERE name = $1", name, string(text))
		return nil
	}))
}

// expire lets a key expire at a time, unless it does so earlier.
func expire(r *apikey.Record, at time.Time) {
	if r.Expires.IsZero() || at.Before(r.Expires) {
		r.Expires = at
	}
}
