package apikey

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
)

const (
	// freshFor is how long the store's word about a key holds: for so long a
	// revoked key may still open.
	freshFor = ambit.Freshness
	// keptFor is how long it holds while the store does not answer.
	keptFor = 60 * time.Second
	// storeLimit is how long the store has for an answer, and pause how long a
	// store that gave none is not asked again about a key whose answer is kept.
	storeLimit = 5 * time.Second
	pause      = 5 * time.Second

	// How many keys are remembered at the same time. The two are apart, so that
	// whoever makes keys up crowds out no real one.
	maxKnown   = 1 << 16
	maxUnknown = 1 << 12
)

// lookups asks a store about keys and remembers what it said.
type lookups struct {
	store     Store
	strangers *line

	mu      sync.Mutex
	known   bucket.Table[hash, answer]
	unknown bucket.Table[hash, answer]
	asking  map[hash]*question
}

// answer is what the store said about a key.
type answer struct {
	entry *entry // nil: there is no such key
	asked time.Time
	again time.Time // the store failed since, and is not asked before
}

// question is one that the store is asked right now, for all who want to know.
type question struct {
	done  chan struct{} // closed when entry and err are there
	entry *entry
	err   error
}

// FromStore returns an authenticator for the keys of a store. What the store says
// about a key holds for 30 seconds: a key that is revoked, or that a file or a row
// does not have any more, opens nothing later than that. Where the store does not
// answer, keys that it knew go on for up to 60 seconds since it was asked, and every
// other one is CodeUnavailable. Keys that it did not know within the last minute are
// asked about four at a time, and some thousand more may wait for that; beyond, they
// are CodeUnavailable too. It panics where the store is nil.
func FromStore(store Store) *Authenticator {
	if store == nil {
		panic("apikey: FromStore needs a store")
	}
	old := func(a *answer, now time.Time) bool { return now.Sub(a.asked) >= keptFor }
	return &Authenticator{stored: &lookups{
		store:     store,
		strangers: newLine(),
		known:     bucket.NewTable[hash](old, maxKnown),
		unknown:   bucket.NewTable[hash](old, maxUnknown),
		asking:    map[hash]*question{},
	}}
}

// find returns what a key opens, nil for a key that there is not.
func (l *lookups) find(ctx context.Context, sum hash) (*entry, error) {
	e, err := l.try(ctx, sum, false)
	if err != errStranger {
		return e, err
	}
	if err := l.strangers.enter(ctx); err != nil {
		return nil, unavailable(err)
	}
	defer l.strangers.leave()
	return l.try(ctx, sum, true)
}

// try returns what is remembered of a key, waits for who asks about it, or asks.
// Of a key that was never known it is errStranger instead, until there is a place
// for the question.
func (l *lookups) try(ctx context.Context, sum hash, placed bool) (*entry, error) {
	l.mu.Lock()
	now := time.Now()
	if last := l.last(sum); last != nil && last.holds(now) {
		e := last.entry
		l.mu.Unlock()
		return e, nil
	}
	q, asked := l.asking[sum]
	if !asked {
		if !placed && l.known.Find(sum) == nil {
			l.mu.Unlock()
			return nil, errStranger
		}
		q = &question{done: make(chan struct{}), err: unavailable(errors.New("the store panicked"))}
		l.asking[sum] = q
	}
	l.mu.Unlock()
	if asked {
		select {
		case <-q.done:
			return q.entry, q.err
		case <-ctx.Done():
			return nil, unavailable(ctx.Err())
		}
	}
	func() {
		defer l.settle(sum, q, now) // an answer is as old as its question
		q.entry, q.err = l.ask(ctx, sum)
	}()
	return q.entry, q.err
}

// errStranger says that a look-up has to wait in line.
var errStranger = errors.New("the key is not one that was known")

func (l *lookups) last(sum hash) *answer {
	if last := l.known.Find(sum); last != nil {
		return last
	}
	return l.unknown.Find(sum)
}

// holds reports whether the store need not be asked.
func (a *answer) holds(now time.Time) bool {
	age := now.Sub(a.asked)
	return age < freshFor || age < keptFor && now.Before(a.again)
}

// settle remembers the answer to a question. Where there is none, what the store
// said earlier of a key that it knew takes its place for a while.
func (l *lookups) settle(sum hash, q *question, asked time.Time) {
	defer close(q.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.asking, sum)
	now, known := time.Now(), l.known.Find(sum)
	switch {
	case q.err == nil && (q.entry != nil || known != nil):
		*l.known.At(sum, now) = answer{entry: q.entry, asked: asked}
	case q.err == nil:
		*l.unknown.At(sum, now) = answer{asked: asked}
	case known != nil && now.Sub(known.asked) < keptFor:
		known.again = now.Add(pause)
		q.entry, q.err = known.entry, nil
	}
}

// ask asks the store, for everybody who waits: that the first of them goes away
// ends it for none.
func (l *lookups) ask(ctx context.Context, sum hash) (*entry, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	record, found, err := l.store.ByHash(ctx, sum.String())
	switch {
	case err != nil:
		return nil, unavailable(err)
	case !found:
		return nil, nil
	}
	e := record.entry()
	if e.ended == nil && subtle.ConstantTimeCompare(e.sum[:], sum[:]) != 1 {
		return nil, unavailable(fmt.Errorf("the record of key %q has another hash than was asked for", record.Name))
	}
	return e, nil
}

// named returns the entry of the key with a name, nil where there is none.
func (l *lookups) named(ctx context.Context, name string) (*entry, error) {
	record, found, err := l.store.ByName(ctx, name)
	switch {
	case err != nil:
		return nil, unavailable(err)
	case !found:
		return nil, nil
	}
	return record.entry(), nil
}

// notices says at the start what is wrong with a store or missing in it.
func (l *lookups) notices() []string {
	ctx, cancel := context.WithTimeout(context.Background(), storeLimit)
	defer cancel()
	switch some, err := l.store.List(ctx, "", 1); {
	case err != nil:
		return []string{"the store of API keys does not answer, so that nobody can come in by one: " + err.Error()}
	case len(some) == 0:
		return []string{noKeys}
	}
	return nil
}

// entry returns what the key opens. A record that does not hold together opens
// nothing.
func (r Record) entry() *entry {
	key, err := r.key()
	if err != nil {
		return &entry{ended: err}
	}
	e, err := key.entry()
	switch {
	case err != nil:
		return &entry{ended: fmt.Errorf("the record of key %q: %w", r.Name, err)}
	case !r.Revoked.IsZero():
		e.ended = errRevoked
	}
	return e
}

// unavailable is the answer where nobody can tell whether a key is valid. Why, is
// for the operator's log.
func unavailable(cause error) error {
	e := ambit.Errorf(ambit.CodeUnavailable, "Credentials cannot be checked at the moment.").WithHint("Try again in a few seconds.")
	e.RetryAfter = pause
	return fmt.Errorf("%w (the store of API keys: %v)", e, cause)
}
