package apikey

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ambit-dev/ambit/schema"
)

// settled is how old the last change of a file must be for its time to tell that
// there was no other since: clocks of file systems are coarse.
const settled = 2 * time.Second

// File is a [Store] in a JSON file of hashes, which several processes may use at
// the same time. It is safe for concurrent use. Make one with [OpenFile].
type File struct {
	path string

	mu   sync.Mutex
	read time.Time   // when records were read
	info fs.FileInfo // of the file that they were read from; nil: there was none
	keys keyFile
}

// keyFile is the content of the file.
type keyFile struct {
	Keys []Record `json:"keys"`
}

// OpenFile reads a file of records:
//
//	{"keys": [{
//	  "name": "billing", "hash": "9f86d0...", "kind": "service",
//	  "permissions": ["orders:read"], "expires": "2030-01-01T00:00:00Z"
//	}]}
//
// Members are those of [Record]; name and hash are required. Where there is no
// file yet, there are no keys, and the first one that is added makes it, for its
// owner alone. The error has a line for each mistake, with its JSON Pointer. On
// Unix a file that others than its owner may write to is an error, and so is one
// whose owner is neither root nor the user of the process.
//
// A change, also one made by hand, is seen at the next look-up. From then on,
// whatever would be an error here makes look-ups fail, and so does a file that is
// gone. Changes through the methods replace the file as a whole, under a lock:
// the file beside it whose name ends in ".new". A symbolic link stands for the
// file behind it, which is what is locked and replaced; a link to nothing is an
// error. A file that has several names otherwise, as one that is mounted alone
// into a container, is replaced under one of them and stays as it was under the
// others: share its folder instead.
func OpenFile(path string) (*File, error) {
	f := &File{path: path}
	if _, err := f.current(); err != nil {
		return nil, err
	}
	return f, nil
}

// current returns the records, read again if the file has changed. They are not
// to be changed.
func (f *File) current() ([]Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.info == nil:
		_, err := targetOf(f.path)
		return nil, err
	case err != nil:
		return nil, fileError(f.path, err)
	case f.info != nil && os.SameFile(info, f.info) && lastChange(info).Equal(lastChange(f.info)) && info.Size() == f.info.Size() &&
		f.read.Sub(lastChange(info)) > settled:
		return f.keys.Keys, nil
	}
	now := time.Now()
	data, info, err := readFile(f.path, 0o022, "write to it")
	if err != nil {
		return nil, err
	}
	keys, err := parse(f.path, data)
	if err != nil {
		return nil, err
	}
	f.keys, f.info, f.read = keys, info, now
	return keys.Keys, nil
}

// parse reads the text of a file. The error joins all that is wrong with it.
func parse(path string, data []byte) (file keyFile, err error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return file, fmt.Errorf(`apikey: %s: is empty: a file without keys is {"keys": []}`, path)
	}
	form, err := schema.For[keyFile](schema.Options{})
	if err != nil {
		return file, err
	}
	var mistakes []error
	for _, fault := range form.Decode(data, reflect.ValueOf(&file).Elem(), 0) {
		mistakes = append(mistakes, fmt.Errorf("apikey: %s: %w", path, mistake(fault)))
	}
	if len(mistakes) > 0 {
		return file, errors.Join(mistakes...)
	}
	names, hashes := make(map[string]bool, len(file.Keys)), make(map[string]bool, len(file.Keys))
	for i := range file.Keys {
		r := &file.Keys[i]
		r.Hash = strings.ToLower(r.Hash)
		err := r.Check()
		switch {
		case err != nil:
		case names[r.Name]:
			err = fmt.Errorf("key %q: another key has this name", r.Name)
		case hashes[r.Hash]:
			err = fmt.Errorf("key %q: another key is the same", r.Name)
		}
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("apikey: %s: %w", path, err))
		}
		names[r.Name], hashes[r.Hash] = true, true
	}
	return file, errors.Join(mistakes...)
}

func mistake(fault schema.Fault) error {
	what := fault.Message
	if len(fault.Allowed) > 0 {
		what += fmt.Sprintf(" (allowed: %v)", fault.Allowed)
	}
	return fmt.Errorf("%s: %s", cmp.Or(fault.Pointer, "the text"), what)
}

// ByHash returns the record with this hash, see [Store].
func (f *File) ByHash(_ context.Context, hash string) (Record, bool, error) {
	return f.find(func(r *Record) bool { return r.Hash == hash })
}

// ByName returns the record with this name, see [Store].
func (f *File) ByName(_ context.Context, name string) (Record, bool, error) {
	return f.find(func(r *Record) bool { return r.Name == name })
}

func (f *File) find(is func(*Record) bool) (Record, bool, error) {
	keys, err := f.current()
	if err != nil {
		return Record{}, false, err
	}
	for i := range keys {
		if is(&keys[i]) {
			return keys[i].clone(), true, nil
		}
	}
	return Record{}, false, nil
}

// List returns records in the order of their names, see [Store].
func (f *File) List(_ context.Context, after string, limit int) ([]Record, error) {
	keys, err := f.current()
	if err != nil {
		return nil, err
	}
	var list []Record
	for i := range keys {
		if keys[i].Name > after {
			list = append(list, keys[i].clone())
		}
	}
	slices.SortFunc(list, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return list[:min(max(limit, 0), len(list))], nil
}

// Add adds a record, see [Store].
func (f *File) Add(ctx context.Context, record Record) error {
	return f.change(ctx, func(keys []Record) ([]Record, error) { return added(keys, record) })
}

// Replace adds a record and lets the one that it replaces expire, see [Store].
func (f *File) Replace(ctx context.Context, record Record, until time.Time) error {
	return f.change(ctx, func(keys []Record) ([]Record, error) {
		old, err := named(keys, record.Replaces)
		switch {
		case err != nil:
			return nil, err
		case !old.Live(time.Now()):
			return nil, ErrEnded
		}
		old.expire(until)
		return added(keys, record)
	})
}

// Expire lets a key expire, see [Store].
func (f *File) Expire(ctx context.Context, name string, at time.Time) error {
	return f.change(ctx, func(keys []Record) ([]Record, error) {
		r, err := named(keys, name)
		if err == nil {
			r.expire(at)
		}
		return keys, err
	})
}

// Revoke ends a key, see [Store].
func (f *File) Revoke(ctx context.Context, name string, at time.Time) error {
	return f.change(ctx, func(keys []Record) ([]Record, error) {
		r, err := named(keys, name)
		if err == nil && r.Revoked.IsZero() {
			r.Revoked = at
		}
		return keys, err
	})
}

// change replaces the records by what do makes of them, which are its own.
func (f *File) change(ctx context.Context, do func([]Record) ([]Record, error)) error {
	return replaceFile(ctx, f.path, func(path string) ([]byte, fs.FileInfo, error) {
		var keys keyFile
		data, info, err := readFile(path, 0o022, "write to it")
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, nil, err
		default:
			if keys, err = parse(path, data); err != nil {
				return nil, nil, err
			}
		}
		if keys.Keys, err = do(keys.Keys); err != nil {
			return nil, nil, err
		}
		text, err := json.MarshalIndent(keys, "", "  ")
		return text, info, err
	})
}

func added(keys []Record, record Record) ([]Record, error) {
	if err := record.Check(); err != nil {
		return nil, fmt.Errorf("apikey: %w", err)
	}
	for i := range keys {
		if keys[i].Name == record.Name || keys[i].Hash == record.Hash {
			return nil, ErrExists
		}
	}
	return append(keys, record), nil
}

func named(keys []Record, name string) (*Record, error) {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i], nil
		}
	}
	return nil, ErrUnknown
}

// expire moves the expiry to an earlier time, never to a later one.
func (r *Record) expire(at time.Time) {
	if r.Expires.IsZero() || at.Before(r.Expires) {
		r.Expires = at
	}
}

// clone returns a copy that shares no list.
func (r *Record) clone() Record {
	c := *r
	c.Permissions, c.Roles, c.Scopes, c.Behind = slices.Clone(r.Permissions), slices.Clone(r.Roles), slices.Clone(r.Scopes), slices.Clone(r.Behind)
	return c
}
