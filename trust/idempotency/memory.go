package idempotency

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
)

// What a [Memory] holds unless its [Options] say otherwise.
const (
	DefaultKeep    = 24 * time.Hour
	DefaultRecords = 100_000
	DefaultBytes   = 64 << 20
	DefaultOutcome = 1 << 20
)

// Options bound a [Memory]. The zero value holds the defaults; negative values
// are refused when the application starts.
type Options struct {
	// Keep is how long a record is kept, from its claim on. Zero: 24 hours.
	Keep time.Duration
	// Records is how many records are kept at most, each of some hundred bytes.
	// Half of them are the most that one principal may have, so that nobody
	// takes the room of everybody. Zero: 100,000.
	Records int
	// Bytes is how many bytes the outcomes may have together, half of them for
	// one principal. Where there is no room for one, its receipt is kept, and where
	// there is none for that, that its call has ended. Zero: 64 MiB.
	Bytes int
	// Outcome is how many bytes one outcome may have to be kept. Of a longer one the
	// receipt is kept. Zero: 1 MiB.
	Outcome int
}

// Memory is an [ambit.Ledger] in the memory of this process. Make it with
// [NewMemory]. It is safe for concurrent use, starts nothing in the background,
// and must not be copied.
type Memory struct {
	options Options
	fault   error

	mu      sync.Mutex
	records map[ambit.Digest]*record
	order   *list.List        // of *record, in the order of their claims
	shares  map[string]*share // by principal key
	bytes   int
}

// share is what one principal holds.
type share struct{ records, bytes int }

type record struct {
	key       ambit.Digest
	attempt   ambit.Attempt
	operation ambit.Digest
	principal string
	lapses    time.Time // the lease
	expires   time.Time
	finished  bool
	outcome   []byte
	place     *list.Element
}

// NewMemory returns an empty ledger. A mistake in the options is reported when
// the application that has the ledger is frozen, see [Memory.Ready].
func NewMemory(o Options) *Memory {
	m := &Memory{records: map[ambit.Digest]*record{}, order: list.New(), shares: map[string]*share{}}
	if o.Keep < 0 || o.Records < 0 || o.Bytes < 0 || o.Outcome < 0 {
		m.fault = errors.New("idempotency: a field of Options is negative: leave it zero for the default")
	}
	o.Keep = orDefault(o.Keep, DefaultKeep)
	o.Records = orDefault(o.Records, DefaultRecords)
	o.Bytes = orDefault(o.Bytes, DefaultBytes)
	o.Outcome = orDefault(o.Outcome, DefaultOutcome)
	m.options = o
	return m
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Ready tells the operator at the start that the records end with this process.
// The error is a mistake in the options.
func (m *Memory) Ready() (notice string, err error) {
	return "idempotency keys are remembered in the memory of this process only: a restart forgets them, and other instances do not see them", m.fault
}

// Find returns the record under the claim's key, as [ambit.Ledger] says.
func (m *Memory) Find(_ context.Context, c ambit.Claim) (ambit.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(c.Key, time.Now()), nil
}

func (m *Memory) find(key ambit.Digest, now time.Time) ambit.Record {
	r := m.records[key]
	if r == nil || !now.Before(r.expires) {
		return ambit.Record{}
	}
	found := ambit.Record{State: ambit.RecordRunning, Operation: r.operation, Outcome: r.outcome}
	switch {
	case r.finished:
		found.State = ambit.RecordFinished
	case !now.Before(r.lapses):
		found.State = ambit.RecordUnknown
	}
	return found
}

// Claim makes a record under the claim's key unless there is one, as
// [ambit.Ledger] says. Where there is no room it returns an error, which is an
// [*ambit.Error] of CodeRateLimited where the principal has used up its half.
func (m *Memory) Claim(_ context.Context, c ambit.Claim) (ambit.Record, error) {
	if m.fault != nil {
		return ambit.Record{}, m.fault
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.forget(now)
	if found := m.find(c.Key, now); found.State != ambit.RecordFree {
		return found, nil
	}
	if old := m.records[c.Key]; old != nil { // expired, behind one that has not
		m.remove(old)
	}
	principal := c.Binding.Principal
	held := m.shares[principal]
	if held == nil {
		held = &share{}
	}
	switch {
	case len(m.records) >= m.options.Records:
		return ambit.Record{}, fmt.Errorf("all of the %d records are taken", m.options.Records)
	case held.records >= half(m.options.Records):
		return ambit.Record{}, ambit.Errorf(ambit.CodeRateLimited, "You have as many calls with an idempotency key on record as are kept for one caller.").
			WithHint("Wait until records expire, or send the call without an idempotency key.")
	}
	m.shares[principal] = held
	held.records++
	r := &record{
		key: c.Key, attempt: c.Attempt, operation: c.Binding.Operation(), principal: principal,
		lapses: now.Add(c.Lease), expires: now.Add(max(m.options.Keep, c.Lease)),
	}
	r.place = m.order.PushBack(r)
	m.records[c.Key] = r
	return ambit.Record{}, nil
}

// half is the most of n that one principal may have, rounded up.
func half(n int) int { return n - n/2 }

// Finish keeps the outcome, as [ambit.Ledger] says.
func (m *Memory) Finish(_ context.Context, c ambit.Claim, e ambit.Ending) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[c.Key]
	switch {
	case r == nil || r.attempt != c.Attempt:
		return errors.New("the claim to finish is not there: it has expired")
	case r.finished:
		return nil
	}
	r.finished = true
	held := m.shares[r.principal]
	for _, kept := range [...][]byte{e.Outcome, e.Receipt} {
		if n := len(kept); n <= m.options.Outcome && m.bytes+n <= m.options.Bytes && held.bytes+n <= half(m.options.Bytes) {
			r.outcome = slices.Clone(kept)
			m.bytes += n
			held.bytes += n
			break
		}
	}
	return nil
}

// Release takes the record back, as [ambit.Ledger] says.
func (m *Memory) Release(_ context.Context, c ambit.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.records[c.Key]; r != nil && r.attempt == c.Attempt && !r.finished {
		m.remove(r)
	}
	return nil
}

// forget removes the records at the front that have expired.
func (m *Memory) forget(now time.Time) {
	for front := m.order.Front(); front != nil; front = m.order.Front() {
		r := front.Value.(*record)
		if now.Before(r.expires) {
			return
		}
		m.remove(r)
	}
}

func (m *Memory) remove(r *record) {
	delete(m.records, r.key)
	m.order.Remove(r.place)
	m.bytes -= len(r.outcome)
	held := m.shares[r.principal]
	held.bytes -= len(r.outcome)
	if held.records--; held.records == 0 {
		delete(m.shares, r.principal)
	}
}
