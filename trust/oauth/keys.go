package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"github.com/ambit-dev/ambit"
)

// How often an issuer's keys are fetched. A key that the issuer took back stops
// within staleKeys of use.
const (
	// freshKeys is how long a set is used without a look at the issuer.
	freshKeys = 30 * time.Second
	// staleKeys is when a request waits for the look, unless the issuer did not
	// answer the last time.
	staleKeys = 45 * time.Second
	// retryAfter is how long nothing is fetched after a failure: keys, metadata, or
	// what an issuer says of one token.
	retryAfter = 5 * time.Second
	// unknownKeys is how long nothing more is fetched for a key that is not in
	// the set. Anybody can name such keys.
	unknownKeys = 30 * time.Second
	// maxKeys is how many keys of a set are taken.
	maxKeys = 64
)

// keySet is what an issuer published at one time. It is not changed.
type keySet struct {
	body []byte
	find jwt.Keyfunc
	ids  map[string]bool
}

// keys holds the keys of one issuer: fetched when they are needed, once for all
// who wait, and kept when the issuer cannot be reached.
type keys struct {
	auth   *Authenticator
	issuer *issuer

	set     atomic.Pointer[keySet] // nil: never loaded
	checked atomic.Int64           // when the set was last confirmed, in Unix nanoseconds

	mu      sync.Mutex
	flight  chan struct{} // closed when the fetch under way has ended; nil: none
	ended   time.Time     // when the last fetch ended
	failed  bool          // how it ended
	unknown time.Time     // when the last fetch for an unknown key began
}

// current returns the keys, no older than the limits above allow. The error is one
// of CodeUnavailable.
func (k *keys) current(ctx context.Context) (*keySet, error) {
	set, now := k.set.Load(), time.Now()
	age := now.Sub(time.Unix(0, k.checked.Load()))
	if set != nil && age < freshKeys {
		return set, nil
	}
	flight, failed := k.fetch(now)
	if set != nil && (age < staleKeys || failed) {
		return set, nil
	}
	if err := wait(ctx, flight); err != nil {
		return nil, err
	}
	if set = k.set.Load(); set == nil {
		return nil, unavailable("the keys of " + k.issuer.URL + " were never loaded")
	}
	return set, nil
}

// find returns the key for a token with this header, and the set that it is of. For
// one that is not there the set is fetched once more, within the limits. Where these
// keep it from being fetched for a token that was issued since the last time, nobody
// can tell: it may be of a key that is as new.
func (k *keys) find(ctx context.Context, h header, issued time.Time) (any, *keySet, error) {
	set, err := k.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	if h.named && !set.ids[h.key] {
		if err := wait(ctx, k.fetchUnknown(time.Now())); err != nil {
			return nil, nil, err
		}
		set = k.set.Load()
		if !set.ids[h.key] && issued.After(time.Unix(0, k.checked.Load())) {
			return nil, nil, k.undecided(time.Now())
		}
	}
	members := map[string]any{"alg": h.algorithm}
	if h.named {
		members["kid"] = h.key
	}
	key, err := set.find(&jwt.Token{Header: members})
	if err != nil {
		return nil, nil, errors.New("the issuer has no such key for this algorithm")
	}
	return key, set, nil
}

// fetch begins a fetch unless one is under way or it is too early after a failure.
// It returns what closes at the end of the one under way, and whether the one
// before failed.
func (k *keys) fetch(now time.Time) (flight <-chan struct{}, failed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.flight == nil && !(k.failed && now.Sub(k.ended) < retryAfter) {
		k.begin()
	}
	return k.flight, k.failed
}

// fetchUnknown begins a fetch for a key that is not in the set.
func (k *keys) fetchUnknown(now time.Time) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.flight == nil && now.Sub(k.unknown) >= unknownKeys && !(k.failed && now.Sub(k.ended) < retryAfter) {
		k.unknown = now
		k.begin()
	}
	return k.flight
}

// undecided is the error for a key that may be newer than the set, with the time at
// which the set may be fetched.
func (k *keys) undecided(now time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := k.unknown.Add(unknownKeys)
	if fresh := time.Unix(0, k.checked.Load()).Add(freshKeys); fresh.Before(next) {
		next = fresh
	}
	if retry := k.ended.Add(retryAfter); k.failed && next.Before(retry) {
		next = retry
	}
	seconds := max(1, (next.Sub(now)+time.Second-1)/time.Second)
	return errors.Join(errors.New("the token's key is none that "+k.issuer.URL+" had when its keys were fetched, and may be newer"),
		&ambit.Error{Code: ambit.CodeUnavailable, RetryAfter: seconds * time.Second})
}

// begin starts a fetch, which ends with the authenticator at the latest.
func (k *keys) begin() {
	flight := make(chan struct{})
	if !k.auth.start(func(ctx context.Context) {
		set, err := k.load(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.ended, k.failed, k.flight = time.Now(), err != nil, nil
		if err != nil {
			k.auth.logger.WarnContext(ctx, "an issuer's keys cannot be loaded",
				slog.String("issuer", k.issuer.URL), slog.Bool("keptOlder", k.set.Load() != nil), slog.Any("cause", err))
		} else {
			k.set.Store(set)
			k.checked.Store(k.ended.UnixNano())
		}
		close(flight)
	}) {
		return
	}
	k.flight = flight
}

// load fetches the set. One that has not changed is the same as before, so that
// tokens checked with it need not be checked again.
func (k *keys) load(ctx context.Context) (*keySet, error) {
	address := k.issuer.Keys
	if address == "" {
		found, err := k.issuer.discovery.find(ctx)
		if err != nil {
			return nil, err
		}
		if address = found.keys; address == "" {
			k.issuer.discovery.forget()
			return nil, errors.New("the metadata has no jwks_uri: set Issuer.Keys")
		}
	}
	body, err := k.auth.get(ctx, address)
	if err != nil {
		k.issuer.discovery.forget()
		return nil, err
	}
	if old := k.set.Load(); old != nil && bytes.Equal(old.body, body) {
		return old, nil
	}
	set, skipped, err := newKeySet(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if skipped > 0 {
		k.auth.logger.InfoContext(ctx, "some of an issuer's keys are of no use here", slog.String("issuer", k.issuer.URL), slog.Int("keys", skipped))
	}
	return set, nil
}

// newKeySet reads a JWK Set (RFC 7517, section 5). Keys that cannot be used are
// passed over; a set without any other is an error, so that it does not replace
// one that has.
func newKeySet(body []byte) (set *keySet, skipped int, err error) {
	members, err := object(body)
	if err != nil {
		return nil, 0, err
	}
	list, _ := members["keys"].([]any)
	if len(list) > maxKeys {
		return nil, 0, fmt.Errorf("the set has %d keys, more than %d", len(list), maxKeys)
	}
	storage := jwkset.NewMemoryStorage()
	set = &keySet{body: slices.Clone(body), ids: map[string]bool{}}
	var usable []jwkset.JWK
	for _, one := range list {
		members, _ := one.(map[string]any)
		key, err := readKey(members)
		if use := text(members, "use"); err != nil || use != "" && use != "sig" {
			skipped++
			continue
		}
		usable = append(usable, key)
		set.ids[text(members, "kid")] = true
	}
	if len(usable) == 0 {
		return nil, skipped, errors.New("the set has no key that could be used")
	}
	if err := storage.KeyReplaceAll(context.Background(), usable); err != nil {
		return nil, skipped, err
	}
	found, err := keyfunc.New(keyfunc.Options{Storage: storage})
	if err != nil {
		return nil, skipped, err
	}
	set.find = found.Keyfunc
	return set, skipped, nil
}

// wait waits for a fetch under way, if there is one.
func wait(ctx context.Context, flight <-chan struct{}) error {
	if flight == nil {
		return nil
	}
	select {
	case <-flight:
		return nil
	case <-ctx.Done():
		return unavailable("the request ended before an issuer had answered")
	}
}

// unavailable is the error where nobody can tell whether a token is valid.
func unavailable(cause string) error {
	return errors.Join(errors.New(cause), &ambit.Error{Code: ambit.CodeUnavailable})
}
