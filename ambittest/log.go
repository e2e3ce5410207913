package ambittest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Log is a [slog.Handler] that keeps what is logged, on every level:
// ambit.Options{Logger: slog.New(ambittest.NewLog())}. It is safe for concurrent
// use.
type Log struct {
	handler slog.Handler
	lines   *lines
}

// lines are what a log and those made from it have written.
type lines struct {
	mu  sync.Mutex
	all []string
}

// Write keeps a line.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(line))
	return len(line), nil
}

// NewLog returns a log in which nothing has been written yet.
func NewLog() *Log {
	kept := &lines{}
	return &Log{slog.NewJSONHandler(kept, &slog.HandlerOptions{Level: slog.Level(-1 << 31)}), kept}
}

// Lines returns what was logged so far, a JSON object each, in order.
func (l *Log) Lines() []string {
	l.lines.mu.Lock()
	defer l.lines.mu.Unlock()
	return slices.Clone(l.lines.all)
}

// Enabled reports true: nothing is left out.
func (l *Log) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps a record.
func (l *Log) Handle(ctx context.Context, r slog.Record) error { return l.handler.Handle(ctx, r) }

// WithAttrs returns a handler that adds attributes and writes to the same log.
func (l *Log) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Log{l.handler.WithAttrs(attrs), l.lines}
}

// WithGroup returns a handler that begins a group and writes to the same log.
func (l *Log) WithGroup(name string) slog.Handler { return &Log{l.handler.WithGroup(name), l.lines} }
