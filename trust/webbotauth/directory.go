package webbotauth

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// How often a directory is fetched.
const (
	leastLifetime   = time.Minute
	mostLifetime    = 24 * time.Hour
	defaultLifetime = time.Hour
	firstRetry      = 30 * time.Second // after a failure, twice as long after each more
	lastRetry       = 5 * time.Minute
	extraFetches    = 30 * time.Second // between fetches for keys that are not there
)

// directory is the key set that an agent publishes. It is fetched on demand:
// when it is asked for the first time, ahead of its end by requests that come
// then, and before an answer once it has ended. A fetch that fails leaves the
// keys as they were. All who need a fetch wait for the same one.
type directory struct {
	url       string
	signedFor string // the authority of the agent whose response a copy is; empty: not a copy
	client    *http.Client
	log       *slog.Logger
	fetches   *fetches

	mu       sync.Mutex
	keys     map[string]Key // nil: never fetched
	ahead    time.Time      // from here on a fetch is begun, and nobody waits for it
	ends     time.Time      // from here on an answer waits for a fetch
	failures int            // since the last success
	retry    time.Time      // no fetch before, but for a key that is not there
	extra    time.Time      // no fetch for a key that is not there before
	flight   chan struct{}  // closed at the end of the fetch under way; nil: none
}

var errUnreachable = errors.New("webbotauth: the directory has not been fetched yet")

// find returns the key with a thumbprint. The error says that no key set was
// ever fetched, or that ctx ended first.
func (d *directory) find(ctx context.Context, thumbprint string) (Key, bool, error) {
	d.mu.Lock()
	now := time.Now()
	_, ok := d.keys[thumbprint]
	wait := true
	switch {
	case d.keys == nil || !now.Before(d.ends):
		if !now.Before(d.retry) {
			d.fetch()
		}
	case !ok:
		if !now.Before(d.extra) {
			d.extra = now.Add(extraFetches)
			d.fetch()
		}
	default:
		wait = false
		if !now.Before(d.ahead) && !now.Before(d.retry) {
			d.fetch()
		}
	}
	flight := d.flight
	d.mu.Unlock()
	if wait && flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return Key{}, false, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil {
		return Key{}, false, errUnreachable
	}
	key, ok := d.keys[thumbprint]
	return key, ok, nil
}

// fetch begins a fetch unless there is one. It holds the lock.
func (d *directory) fetch() {
	if d.flight != nil {
		return
	}
	flight := make(chan struct{})
	begun := d.fetches.begin(func(ctx context.Context) {
		defer close(flight)
		set, err := d.get(ctx)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.flight = nil
		d.fetched(set, err, time.Now())
	})
	if begun {
		d.flight = flight
	}
}

// fetched takes over what a fetch has brought. It holds the lock.
func (d *directory) fetched(set keySet, err error, now time.Time) {
	if err != nil {
		wait := min(firstRetry<<min(d.failures, 8), lastRetry)
		d.failures++
		d.retry = now.Add(wait)
		d.log.Warn("an agent's directory cannot be fetched", slog.String("url", d.url), slog.Any("error", err),
			slog.Bool("keys", d.keys != nil), slog.Duration("retry", wait))
		return
	}
	life := min(max(set.lifetime, leastLifetime), mostLifetime)
	d.keys, d.failures, d.retry = set.keys, 0, time.Time{}
	d.ends = now.Add(life)
	d.ahead = now.Add(life*3/4 + rand.N(life/5)) // not all instances at the same time
}

// fetches owns the goroutines of fetches.
type fetches struct {
	ctx  context.Context
	stop context.CancelFunc

	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
}

func newFetches() *fetches {
	ctx, stop := context.WithCancel(context.Background())
	return &fetches{ctx: ctx, stop: stop}
}

// begin runs do in a goroutine, unless all is closed.
func (f *fetches) begin(do func(context.Context)) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.group.Go(func() { do(f.ctx) })
	return true
}

func (f *fetches) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.group.Wait()
}
