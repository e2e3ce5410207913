package audit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
)

// What a [Log] does unless its [Options] say otherwise.
const (
	// DefaultQueue is how many entries wait to be written at most.
	DefaultQueue = 4096
	// DefaultWait is how long a call waits for room for its outcome.
	DefaultWait = time.Second
	// DefaultMaxInput is how many bytes a recorded input has at most.
	DefaultMaxInput = 64 << 10
	// DefaultCheckpointEvery is how often the head of a chain is signed.
	DefaultCheckpointEvery = time.Minute
	// DefaultCloseWithin is how long a log tries to write what waits when it is
	// closed.
	DefaultCloseWithin = 10 * time.Second
)

// storePatience is how long one request to the store may take.
const storePatience = 5 * time.Second

// Options say how a [Log] works. Keys and Application are required.
type Options struct {
	// Keys is the application's key ring. The keys of chains, digests and
	// signatures are derived from its first key; all keys that have not reached
	// their date verify, so a retired one has to stay for as long as the entries
	// that were written under it.
	Keys *ambit.KeyRing
	// Application is the application's name, which goes into every key.
	Application string
	// Checkpoints takes the signed heads of chains out of the store. Nil: they are
	// kept nowhere, and nothing tells when the end of a chain is cut off. See
	// [CheckpointFile].
	Checkpoints Sink
	// CheckpointEvery is how long a chain that grows goes without a checkpoint:
	// what was written since the last one can be cut off without a trace. Zero: a
	// minute.
	CheckpointEvery time.Duration
	// Queue is how many reads and refusals wait to be written at most, beyond
	// which they are counted, and how many calls that change something may be at
	// work or wait to be written, beyond which they are unavailable. Zero: 4,096.
	Queue int
	// Wait is how long such a call waits for room before it is unavailable. Zero:
	// a second.
	Wait time.Duration
	// MaxInput is how many bytes of canonical input are recorded where the
	// capability allows it ([ambit.Spec.RecordInput]); of a larger one, only the
	// digest is. Zero: 64 KiB.
	MaxInput int
	// CloseWithin is how long Close tries to write what waits. Zero: ten seconds.
	CloseWithin time.Duration
	// Logger takes messages for the operator. Nil: slog.Default().
	Logger *slog.Logger
}

// withDefaults returns the options with their defaults filled in, and what is
// wrong with them.
func (o Options) withDefaults() (Options, error) {
	if o.Keys == nil {
		return o, errors.New("audit: Options.Keys is missing: give the log the application's key ring")
	}
	if o.Application == "" {
		return o, errors.New("audit: Options.Application is missing: give the log the application's name")
	}
	for _, bound := range [...]struct {
		name  string
		value int64
	}{
		{"CheckpointEvery", int64(o.CheckpointEvery)},
		{"Queue", int64(o.Queue)},
		{"Wait", int64(o.Wait)},
		{"MaxInput", int64(o.MaxInput)},
		{"CloseWithin", int64(o.CloseWithin)},
	} {
		if bound.value < 0 {
			return o, fmt.Errorf("audit: Options.%s is negative: leave it zero for the default", bound.name)
		}
	}
	o.CheckpointEvery = orDefault(o.CheckpointEvery, DefaultCheckpointEvery)
	o.Queue = orDefault(o.Queue, DefaultQueue)
	o.Wait = orDefault(o.Wait, DefaultWait)
	o.MaxInput = orDefault(o.MaxInput, DefaultMaxInput)
	o.CloseWithin = orDefault(o.CloseWithin, DefaultCloseWithin)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o, nil
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Log writes the audit record of one application. Make it with [New], give it to
// the application as [ambit.Options.Ledger], which makes it see every call too,
// and close it when the application has stopped. It is safe for concurrent use
// and must not be copied.
type Log struct {
	store   Store
	options Options
	keys    keys
	signer  ed25519.PrivateKey
	writer  string
	logger  *slog.Logger

	mu     sync.RWMutex
	chains map[string]*chain
	free   sync.Pool // of *line

	lines   chan *line    // reads and refusals: full, they are counted
	musts   chan *line    // outcomes: each has a slot, so there is room
	slots   chan struct{} // taken by calls at work and outcomes that wait
	flushes chan chan struct{}

	gapMu  sync.Mutex // guards gapped
	gapped []*chain   // those with a gap to be told

	keeping chan error // of a sink that has not answered in time, or nil; for the goroutine that writes

	closing chan struct{}
	closed  sync.Once
	done    chan struct{}
	failure error // of the writer; set before done
}

// New returns a log over a store and starts to write. Mistakes in the options are
// errors; the store is not asked for anything yet.
func New(store Store, options Options) (*Log, error) {
	if store == nil {
		return nil, errors.New("audit: there is no store")
	}
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Log{
		store: store, options: options, keys: keys{options.Keys, options.Application}, writer: rand.Text(), logger: options.Logger,
		chains: map[string]*chain{},
		lines:  make(chan *line, options.Queue), musts: make(chan *line, options.Queue), slots: make(chan struct{}, options.Queue),
		flushes: make(chan chan struct{}), closing: make(chan struct{}), done: make(chan struct{}),
	}
	l.signer = l.keys.sign()[0]
	l.free.New = func() any { return &line{} }
	go l.write()
	return l, nil
}

// Close writes what waits and a last checkpoint of every chain, and ends the
// log. Entries that could not be written are an error, and in the operator's log.
// Calls that come afterwards are unavailable. Closing twice does nothing more.
func (l *Log) Close() error {
	l.closed.Do(func() { close(l.closing) })
	<-l.done
	return l.failure
}

// Flush waits until nothing waits to be written, or ctx ends, or the log is
// closed. It is for tests, and for programs that make no calls meanwhile: while
// some come all the time, something always waits.
func (l *Log) Flush(ctx context.Context) error {
	flushed := make(chan struct{})
	select {
	case l.flushes <- flushed:
	case <-l.done:
		return l.failure
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-flushed:
		return nil
	case <-l.done:
		return l.failure
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ready says what the operator should know: what the store says, and that
// nothing takes the checkpoints where that is so.
func (l *Log) Ready() (notice string, err error) {
	if part, ok := l.store.(interface {
		Ready() (notice string, err error)
	}); ok {
		notice, err = part.Ready()
	}
	if l.options.Checkpoints == nil {
		if notice != "" {
			notice += "; "
		}
		notice += "the audit record has no place for its checkpoints (audit.Options.Checkpoints), so that nobody can tell when its end is cut off"
	}
	return notice, err
}

// With writes a record in the place that it has in its tenant's chain. Add puts
// the entry into the store, in the same transaction as what it is about, and
// says whether it did: the place stays free where it did not. Add may be called
// twice, where its first transaction failed because the place was taken. The
// error of add is returned as it is.
func (l *Log) With(ctx context.Context, r Record, add func(ctx context.Context, e Entry) (added bool, err error)) error {
	_, err := l.with(ctx, r, nil, add)
	return err
}

// with is With, and reports whether the entry is in the store, which it may be
// although there is an error. F is the fate of what may be written again, or nil.
func (l *Log) with(ctx context.Context, r Record, f *fate, add func(ctx context.Context, e Entry) (added bool, err error)) (added bool, err error) {
	select {
	case <-l.closing:
		return false, errClosed
	default:
	}
	return l.extend(ctx, l.chainOf(r.Tenant), []Entry{r.entry()}, []*fate{f}, func(ctx context.Context, entries []Entry) (bool, error) {
		return add(ctx, entries[0])
	})
}

var errClosed = errors.New("audit: the log is closed")
