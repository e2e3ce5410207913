package apikey

import (
	"context"
	"errors"
	"time"
)

// Store keeps the records of keys, where they can be added and ended while
// servers run. [File] is one; databases have others. It must be safe for
// concurrent use, also by several processes. Methods that change something do all
// of it or nothing. A record is never removed by a Store's own doing: who ended a
// key wants to see later that it is ended.
type Store interface {
	// ByHash returns the record with this hash, in lower-case hexadecimal
	// digits, and whether there is one. Ended keys count.
	ByHash(ctx context.Context, hash string) (Record, bool, error)
	// ByName returns the record with this name, and whether there is one.
	ByName(ctx context.Context, name string) (Record, bool, error)
	// List returns at most limit records, ended ones included, in the order of
	// the bytes of their names, from the first one after the given name; "" is
	// before all.
	List(ctx context.Context, after string, limit int) ([]Record, error)
	// Add adds a record that passes [Record.Check]. [ErrExists]: a record has its
	// name or its hash.
	Add(ctx context.Context, record Record) error
	// Replace adds a record as Add does, and lets the key that it names in
	// Replaces expire at a time, unless that expires earlier. [ErrUnknown]: there
	// is no such key. [ErrEnded]: it is not valid any more, and nothing may follow
	// it.
	Replace(ctx context.Context, record Record, until time.Time) error
	// Expire lets a key expire at a time, unless it expires earlier: the end of a
	// key is never put off. [ErrUnknown]: there is no such key.
	Expire(ctx context.Context, name string, at time.Time) error
	// Revoke ends a key, with the time for the record. One that is revoked
	// keeps its time. [ErrUnknown]: there is no such key.
	Revoke(ctx context.Context, name string, at time.Time) error
}

// The errors of a [Store] that its callers tell apart, with errors.Is. Any other
// means that the store does not work.
var (
	// ErrExists means that another record has the name or the hash.
	ErrExists = errors.New("apikey: another key has this name or hash")
	// ErrUnknown means that there is no record of this name.
	ErrUnknown = errors.New("apikey: there is no key of this name")
	// ErrEnded means that a key is revoked or has expired.
	ErrEnded = errors.New("apikey: the key is revoked or has expired")
)
