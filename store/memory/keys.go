package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// Keys returns the part of the store that keeps API keys.
func (s *Store) Keys() apikey.Store { return (*keyStore)(s) }

type keyStore Store

func (k *keyStore) ByHash(ctx context.Context, hash string) (apikey.Record, bool, error) {
	return k.find(ctx, func(r apikey.Record) bool { return r.Hash == hash })
}

func (k *keyStore) ByName(ctx context.Context, name string) (apikey.Record, bool, error) {
	return k.find(ctx, func(r apikey.Record) bool { return r.Name == name })
}

func (k *keyStore) find(ctx context.Context, is func(apikey.Record) bool) (apikey.Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return apikey.Record{}, false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.keys {
		if is(r) {
			return cloneKey(r), true, nil
		}
	}
	return apikey.Record{}, false, nil
}

func (k *keyStore) List(ctx context.Context, after string, limit int) ([]apikey.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []apikey.Record
	for _, r := range k.keys {
		if r.Name > after {
			list = append(list, cloneKey(r))
		}
	}
	slices.SortFunc(list, func(a, b apikey.Record) int { return strings.Compare(a.Name, b.Name) })
	return list[:min(max(limit, 0), len(list))], nil
}

func (k *keyStore) Add(ctx context.Context, r apikey.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.add(r)
}

func (k *keyStore) add(r apikey.Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	for _, other := range k.keys {
		if other.Name == r.Name || other.Hash == r.Hash {
			return apikey.ErrExists
		}
	}
	k.keys[r.Name] = cloneKey(r)
	return nil
}

func (k *keyStore) Replace(ctx context.Context, r apikey.Record, until time.Time) error {
	return k.change(ctx, r.Replaces, func(old *apikey.Record) error {
		if !old.Live((*Store)(k).now()) {
			return apikey.ErrEnded
		}
		expire(old, until)
		return k.add(r)
	})
}

func (k *keyStore) Expire(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(r *apikey.Record) error {
		expire(r, at)
		return nil
	})
}

func (k *keyStore) Revoke(ctx context.Context, name string, at time.Time) error {
	return k.change(ctx, name, func(r *apikey.Record) error {
		if r.Revoked.IsZero() {
			r.Revoked = at
		}
		return nil
	})
}

func (k *keyStore) change(ctx context.Context, name string, do func(*apikey.Record) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok := k.keys[name]
	if !ok {
		return apikey.ErrUnknown
	}
	if err := do(&r); err != nil {
		return err
	}
	k.keys[name] = r
	return nil
}

// expire lets a key expire at a time, unless it does so earlier.
func expire(r *apikey.Record, at time.Time) {
	if r.Expires.IsZero() || at.Before(r.Expires) {
		r.Expires = at
	}
}

func cloneKey(r apikey.Record) apikey.Record {
	r.Permissions, r.Roles = slices.Clone(r.Permissions), slices.Clone(r.Roles)
	r.Scopes, r.Behind = slices.Clone(r.Scopes), slices.Clone(r.Behind)
	return r
}
