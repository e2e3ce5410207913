package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// errNoRoom refuses a call whose outcome there would be no room for.
var errNoRoom = errors.New("audit: there is no room for the outcome of the call: entries are not written as fast as they come")

type underWayKey struct{ log *Log }

// underWay is what a log knows of a call that does more than read, from its
// start to its end.
type underWay struct {
	mu      sync.Mutex
	slot    bool // holds one of Log.slots
	claimed bool // the outcome has to be on record
	intent  bool // and there may be an intent
	written bool // the outcome is on record
	outcome fate
	digest  []byte
	input   []byte
	large   bool
}

func (l *Log) underWay(ctx context.Context) *underWay {
	u, _ := ctx.Value(underWayKey{l}).(*underWay)
	return u
}

// observer is what an application tells a [Log] of its calls through: ledgers and
// observers both have a method Finish.
type observer struct{ *Log }

// Observer returns what has to see every call. The application asks the ledger
// that it is given for it: it need not be among [ambit.Options.Observers].
func (l *Log) Observer() ambit.Observer { return observer{l} }

// Start is told that a call begins.
func (l observer) Start(ctx context.Context, e ambit.Event) context.Context {
	if !l.Records(e.Effect) {
		return ctx
	}
	return context.WithValue(ctx, underWayKey{l.Log}, &underWay{})
}

// Finish is told how a call ended whose input is not known.
func (l observer) Finish(ctx context.Context, e ambit.Event) {
	l.FinishInput(ctx, e, ambit.CallInput{})
}

// FinishInput is told how a call ended. Of a read or a refusal it makes a line if
// there is room, and counts it otherwise.
func (l observer) FinishInput(ctx context.Context, e ambit.Event, input ambit.CallInput) {
	if u := l.underWay(ctx); u != nil && l.ended(u, &e) {
		return
	}
	kind := KindCall
	if !e.Ran && !e.Replayed {
		kind = KindRefusal
	}
	c := l.chainOf(e.Tenant)
	if e.Ran && e.Effect > ambit.Read {
		// The log is not the ledger of this application, or it would have been
		// asked: there is nothing left but to wait.
		n := l.newLine(kind, &e)
		n.keep(l.Log, c, input)
		l.late(ctx, n)
		return
	}
	if len(l.lines) == cap(l.lines) || l.isClosed() {
		l.miss(c, kind, &e)
		return
	}
	n := l.newLine(kind, &e)
	n.keep(l.Log, c, input)
	select {
	case l.lines <- n:
	default:
		l.miss(c, kind, &e)
		l.recycle(n)
	}
}

// ended handles the end of a call that the log was asked about. It reports false
// for one that was refused before that.
func (l *Log) ended(u *underWay, e *ambit.Event) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.written:
	case u.claimed && u.slot:
		kind := KindCall
		if u.intent {
			kind = KindOutcome
		}
		n := l.newLine(kind, e)
		n.digest, n.input, n.large = append(n.digest, u.digest...), append(n.input, u.input...), u.large
		n.fate = &u.outcome
		u.slot = false
		l.must(n)
	}
	if u.slot {
		u.slot = false
		<-l.slots
	}
	return u.written || u.claimed
}

// late writes a line that there was no room reserved for.
func (l *Log) late(ctx context.Context, n *line) {
	if err := l.reserve(context.WithoutCancel(ctx)); err != nil {
		l.lose(n, err)
		return
	}
	n.fate = &fate{}
	l.must(n)
}

// must has a line written that has taken a slot, so that there is room.
func (l *Log) must(n *line) {
	n.must = true
	l.musts <- n
	select {
	case <-l.done: // the writer may have gone without it
		l.loseRest(errClosed)
	default:
	}
}

// loseRest gives up what waits.
func (l *Log) loseRest(cause error) {
	for {
		select {
		case n := <-l.musts:
			l.lose(n, cause)
			<-l.slots
		default:
			return
		}
	}
}

// lose counts an outcome that cannot be written. The operator is told whose it
// is.
func (l *Log) lose(n *line, cause error) {
	l.miss(l.chainOf(n.event.Tenant), KindOutcome, &n.event)
	l.logger.Error("the outcome of a call is not in the audit record", slog.String("capability", n.event.Capability),
		slog.String("principal", visible.Text(n.event.Principal)), slog.String("call", n.event.Call.String()), slog.String("code", string(n.event.Code)), slog.Any("cause", cause))
}

// reserveFor takes a slot for a call that has none.
func (l *Log) reserveFor(ctx context.Context, u *underWay) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.slot {
		return nil
	}
	err := l.reserve(ctx)
	u.slot = err == nil
	return err
}

// reserve takes a slot, and waits for one no longer than a call may wait.
func (l *Log) reserve(ctx context.Context) error {
	if l.isClosed() {
		return errClosed
	}
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	wait := time.NewTimer(l.options.Wait)
	defer wait.Stop()
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-wait.C:
		return errNoRoom
	case <-l.closing:
		return errClosed
	case <-ctx.Done():
		return fmt.Errorf("audit: waiting for room: %w", ctx.Err())
	}
}

func (l *Log) isClosed() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// add counts what another gap counts.
func (g *Gap) add(other Gap) {
	if g.Count() == 0 {
		*g = other
		return
	}
	if other.Count() == 0 {
		return
	}
	g.Reads, g.Refusals, g.Lost = g.Reads+other.Reads, g.Refusals+other.Refusals, g.Lost+other.Lost
	if other.Since.Before(g.Since) {
		g.Since = other.Since
	}
	if other.Until.After(g.Until) {
		g.Until = other.Until
	}
}
