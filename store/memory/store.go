package memory

import (
	"maps"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

var (
	_ approval.Store    = (*Store)(nil)
	_ audit.Store       = (*Store)(nil)
	_ ambit.SharedRates = (*Store)(nil)
)

const (
	// keepKeys is how long the key of a call is kept, from its claim on.
	keepKeys = 24 * time.Hour
	// maxOutcome is how many bytes an outcome may have to be kept.
	maxOutcome = 1 << 20
	// sweepInterval is how often what has expired is removed.
	sweepInterval = time.Minute
)

// Store keeps everything in memory. Make it with [New]. It is safe for concurrent
// use and must not be copied.
type Store struct {
	mu sync.Mutex

	ahead time.Duration // of the clock
	swept time.Time     // when what has expired was removed last

	calls     map[ambit.Digest]*call     // by key
	proposals map[string]*proposal       // by id
	answering map[ambit.Digest]*proposal // by operation: those that are open

	proposed int // how many there have been

	grants  map[string]*grant // by id
	granted int               // how many there have been

	entries  []numbered          // in the order in which they came
	appended int64               // how many there have been
	places   map[place]bool      // of entries, those removed included
	cuts     map[chain]audit.Cut // the newest of each chain

	keys  map[string]apikey.Record // by name
	used  map[string]time.Time     // until when
	halts []ambit.Halt
	rates map[string]*bucket.Bucket
}

// call is what is kept under an idempotency key.
type call struct {
	attempt   ambit.Attempt
	operation ambit.Digest
	covered   string // the proposal that holds the outcome; "": none does
	lapses    time.Time
	expires   time.Time
	finished  bool
	outcome   []byte
}

// proposal is a row and its number in the order of creation.
type proposal struct {
	lifecycle.Row
	number int
}

// numbered is an entry and its number among all.
type numbered struct {
	audit.Entry
	number int64
}

// New returns an empty store.
func New() *Store {
	return &Store{
		calls: map[ambit.Digest]*call{}, proposals: map[string]*proposal{}, answering: map[ambit.Digest]*proposal{}, grants: map[string]*grant{},
		places: map[place]bool{}, cuts: map[chain]audit.Cut{},
		keys: map[string]apikey.Record{}, used: map[string]time.Time{}, rates: map[string]*bucket.Bucket{},
	}
}

// Ready tells the operator at the start that this is for tests.
func (s *Store) Ready() (notice string, err error) {
	return "approvals, idempotency keys and audit records are in the memory of this process, which is for tests: a restart forgets them all, and other instances do not see them", nil
}

// Advance sets the store's clock ahead, by which everything lapses and expires.
// It starts out as the clock of the system.
func (s *Store) Advance(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += by
}

// now returns the time, to the microsecond, as databases keep it. The store is
// locked.
func (s *Store) now() time.Time { return time.Now().Add(s.ahead).UTC().Truncate(time.Microsecond) }

// sweep removes what has expired, when that is due. Whatever adds such a thing calls
// it, so that no more is kept than has effect or was added within the interval.
func (s *Store) sweep(now time.Time) {
	if now.Sub(s.swept) >= sweepInterval {
		s.forgetExpired(now)
		s.swept = now
	}
}

// forgetExpired removes what can have no effect any more.
func (s *Store) forgetExpired(now time.Time) {
	maps.DeleteFunc(s.calls, func(_ ambit.Digest, c *call) bool { return !now.Before(c.expires) })
	maps.DeleteFunc(s.used, func(_ string, until time.Time) bool { return !now.Before(until.Add(slack)) })
	maps.DeleteFunc(s.rates, func(_ string, b *bucket.Bucket) bool { return b.Full(now) })
}
