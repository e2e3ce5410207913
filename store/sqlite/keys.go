package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// Keys returns the part of the store that keeps API keys.
func (s *Store) Keys() apikey.Store { return keyStore{s} }

type keyStore struct{ store *Store }

func (k keyStore) ByHash(ctx context.Context, hash string) (apikey.Record, bool, error) {
	return k.find(ctx, "hash = ?", hash)
}

func (k keyStore) ByName(ctx context.Context, name string) (apikey.Record, bool, error) {
	return k.find(ctx, "name = ?", name)
}

func (k keyStore) find(ctx context.Context, condition, value string) (r apikey.Record, found bool, err error) {
	err = k.store.read(ctx, func(ctx context.Context, u *unit) error {
		r, found, err = u.key(ctx, condition, value)
		return err
	})
	return r, found, err
}

func (u *unit) key(ctx context.Context, condition, value string) (r apikey.Record, found bool, err error) {
	var text []byte
	err = u.queryRow(ctx, "SELECT record FROM {}api_key WHERE "+condition, value).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return apikey.Record{}, false, nil
	}
	if err == nil {
		r, err = parseKey(text)
	}
	return r, err == nil, err
}

func parseKey(text []byte) (r apikey.Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return apikey.Record{}, fmt.Errorf("sqlite: a stored API key cannot be read: %w", err)
	}
	return r, nil
}

func (k keyStore) List(ctx context.Context, after string, limit int) (list []apikey.Record, err error) {
	err = k.store.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, "SELECT record FROM {}api_key WHERE name > ? ORDER BY name LIMIT ?", after, max(limit, 0))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				return err
			}
			r, err := parseKey(text)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	return list, err
}

func (k keyStore) Add(ctx context.Context, r apikey.Record) error {
	return k.store.write(ctx, func(ctx context.Context, u *unit) error { return u.addKey(ctx, r) })
}

func (u *unit) addKey(ctx context.Context, r apikey.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	added, err := u.exec(ctx, "INSERT INTO {}api_key (name, hash, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", r.Name, r.Hash, string(text))
	if err == nil && added == 0 {
		err = apikey.ErrExists
	}
	return err
}

func (k keyStore) Replace(ctx context.Context, r apikey.Record, until time.Time) error {
	return k.change(ctx, r.Replaces, func(ctx context.Context, u *unit, old *apikey.Record) error {
		if !old.Live(u.now) {
			return apikey.ErrEnded
		}
		expire(old, until)
		return u.addKey(ctx, r)
	})
}

func (k keyStore) Expire(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(_ context.Context, _ *unit, r *apikey.Record) error {
		expire(r, at)
		return nil
	})
}

func (k keyStore) Revoke(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(_ context.Context, _ *unit, r *apikey.Record) error {
		if r.Revoked.IsZero() {
			r.Revoked = at
		}
		return nil
	})
}

func (k keyStore) change(ctx context.Context, name string, do func(context.Context, *unit, *apikey.Record) error) error {
	return k.store.write(ctx, func(ctx context.Context, u *unit) error {
		r, found, err := u.key(ctx, "name = ?", name)
		switch {
		case err != nil:
			return err
		case !found:
			return apikey.ErrUnknown
		}
		if err := do(ctx, u, &r); err != nil {
			return err
		}
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = u.exec(ctx, "UPDATE {}api_key SET record = ? WHERE name = ?", string(text), name)
		return err
	})
}

// expire lets a key expire at a time, unless it does so earlier.
func expire(r *apikey.Record, at time.Time) {
	if r.Expires.IsZero() || at.Before(r.Expires) {
		r.Expires = at
	}
}
