package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/plural"
)

const (
	// mostAtOnce is how many entries are written at once.
	mostAtOnce = 256
	// firstRetry and lastRetry bound the time between two tries to write what has
	// to be written.
	firstRetry, lastRetry = 50 * time.Millisecond, 5 * time.Second
)

// writer is the goroutine that writes what waits, in batches.
type writer struct {
	*Log
	batch   []*line // what is being written; after a failure, what has to be tried again
	retry   time.Duration
	flushed []chan struct{} // closed when nothing waits
	marks   *time.Ticker
}

// write writes what waits until the log is closed.
func (l *Log) write() {
	w := &writer{Log: l, marks: time.NewTicker(max(l.options.CheckpointEvery/4, time.Millisecond))}
	defer w.marks.Stop()
	for w.wait() {
		w.round(context.Background())
	}
	w.end()
}

// wait returns when there may be something to write, and false when the log is
// closed. After a failure it gives the store a pause.
func (w *writer) wait() (open bool) {
	lines, musts := w.lines, w.musts
	var again <-chan time.Time
	if w.retry > 0 {
		lines, musts, again = nil, nil, time.After(w.retry)
	}
	select {
	case n := <-lines:
		w.batch = append(w.batch, n)
	case n := <-musts:
		w.batch = append(w.batch, n)
	case <-again:
	case flushed := <-w.flushes:
		w.flushed = append(w.flushed, flushed)
	case <-w.marks.C:
		w.mark(context.Background(), w.options.CheckpointEvery)
	case <-w.closing:
		return false
	}
	return true
}

// round writes one batch, and what is missing.
func (w *writer) round(ctx context.Context) {
	w.gather()
	w.pace(ctx, errors.Join(w.put(ctx), w.tellGaps(ctx)))
	if w.idle() {
		for _, flushed := range w.flushed {
			close(flushed)
		}
		w.flushed = nil
	}
}

func (w *writer) idle() bool {
	w.gapMu.Lock()
	defer w.gapMu.Unlock()
	return len(w.batch)+len(w.lines)+len(w.musts)+len(w.gapped) == 0
}

// gather fills the batch with what waits, outcomes first.
func (w *writer) gather() {
	for len(w.batch) < mostAtOnce {
		select {
		case n := <-w.musts:
			w.batch = append(w.batch, n)
			continue
		default:
		}
		select {
		case n := <-w.lines:
			w.batch = append(w.batch, n)
		default:
			return
		}
	}
}

// put writes the batch, tenant by tenant. Of what was not written, it keeps what
// has to be and counts the rest.
func (w *writer) put(ctx context.Context) (failure error) {
	var tenants []string
	of := map[string][]*line{}
	for _, n := range w.batch {
		if of[n.event.Tenant] == nil {
			tenants = append(tenants, n.event.Tenant)
		}
		of[n.event.Tenant] = append(of[n.event.Tenant], n)
	}
	var kept []*line
	for _, tenant := range tenants {
		lines := of[tenant]
		if err := w.append(ctx, tenant, lines); err != nil {
			failure = err
			kept = append(kept, w.keep(lines)...)
			continue
		}
		for _, n := range lines {
			w.drop(n)
		}
	}
	clear(w.batch)
	w.batch = append(w.batch[:0], kept...)
	return failure
}

// append writes lines of one tenant, all or none.
func (w *writer) append(ctx context.Context, tenant string, lines []*line) (err error) {
	defer contain(&err)
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	entries, fates, c := make([]Entry, len(lines)), make([]*fate, len(lines)), w.chainOf(tenant)
	for i, n := range lines {
		n.settle(w.Log, c)
		entries[i], fates[i] = n.record().entry(), n.fate
	}
	landed, err := w.extend(ctx, c, entries, fates, w.appendAll)
	if landed {
		return nil
	}
	return err
}

// contain makes an error of a panic in what the application has given the log.
func contain(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("audit: panic: %v", v)
	}
}

// keep returns the lines that have to be written and counts the others.
func (w *writer) keep(lines []*line) (kept []*line) {
	for _, n := range lines {
		if n.must {
			kept = append(kept, n)
			continue
		}
		w.miss(w.chainOf(n.event.Tenant), n.kind, &n.event)
		w.drop(n)
	}
	return kept
}

// drop is the end of a line.
func (w *writer) drop(n *line) {
	if n.must {
		<-w.slots
	}
	w.recycle(n)
}

// pace says when to try again, and tells the operator when the store begins to
// fail and when it is in order again.
func (w *writer) pace(ctx context.Context, failure error) {
	switch {
	case failure == nil && w.retry > 0:
		w.logger.InfoContext(ctx, "the audit record is written again")
		w.retry = 0
	case failure != nil && w.retry == 0:
		w.logger.ErrorContext(ctx, "the audit record is not written: calls that change something are unavailable once there is no more room to wait, and reads and refusals are counted",
			slog.Any("cause", failure))
		w.retry = firstRetry
	case failure != nil:
		w.retry = min(2*w.retry, lastRetry)
	}
}

// tellGaps writes how many calls have no entry.
func (w *writer) tellGaps(ctx context.Context) (failure error) {
	w.gapMu.Lock()
	chains := w.gapped
	w.gapped = nil
	w.gapMu.Unlock()
	for _, c := range chains {
		c.mu.Lock()
		gap := c.gap
		c.gap = Gap{}
		c.mu.Unlock()
		if err := w.tellGap(ctx, c, gap); err != nil {
			failure = err
			w.missed(c, gap)
		}
	}
	return failure
}

func (w *writer) tellGap(ctx context.Context, c *chain, gap Gap) (err error) {
	defer contain(&err)
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	record := Record{Kind: KindGap, Tenant: c.tenant, Gap: &gap}
	landed, err := w.extend(ctx, c, []Entry{record.entry()}, nil, w.appendAll)
	if landed {
		return nil
	}
	return err
}

func (w *writer) appendAll(ctx context.Context, entries []Entry) (added bool, err error) {
	err = w.store.Append(ctx, entries...)
	return err == nil, err
}

// miss counts a call that has no entry.
func (l *Log) miss(c *chain, kind string, e *ambit.Event) {
	at := e.Began.Add(e.Took).UTC().Truncate(time.Microsecond)
	gap := Gap{Since: at, Until: at}
	switch kind {
	case KindCall:
		gap.Reads = 1
	case KindRefusal:
		gap.Refusals = 1
	default:
		gap.Lost = 1
	}
	l.missed(c, gap)
}

func (l *Log) missed(c *chain, gap Gap) {
	c.mu.Lock()
	first := c.gap.Count() == 0
	c.gap.add(gap)
	c.mu.Unlock()
	if first {
		l.gapMu.Lock()
		l.gapped = append(l.gapped, c)
		l.gapMu.Unlock()
	}
}

// end writes what waits, for as long as a closed log may take.
func (w *writer) end() {
	ctx, cancel := context.WithTimeout(context.Background(), w.options.CloseWithin)
	defer cancel()
	for ctx.Err() == nil {
		w.round(ctx)
		if w.idle() {
			break
		}
		if w.retry == 0 {
			continue // there is another batch
		}
		select {
		case <-time.After(w.retry):
		case <-ctx.Done():
		}
	}
	lost := len(w.batch) + len(w.musts)
	for _, n := range w.batch {
		w.lose(n, errClosed)
		<-w.slots
	}
	if lost > 0 {
		w.failure = fmt.Errorf("audit: the log was closed before %s could be recorded", plural.Of(lost, "outcome"))
	}
	w.mark(ctx, 0)
	close(w.done)
	w.loseRest(errClosed)
}
