package ambit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// How a halt source is read.
const (
	// HaltPoll is how often [App.Watch] reads each source.
	HaltPoll = 250 * time.Millisecond
	// HaltLease is how long what was read holds. A source that was never read,
	// or not within this time, stops everything but reads.
	HaltLease = 10 * time.Second
)

// HaltSource is a form of the halt switch that lives outside of the process and
// reaches every instance: a file, a row in a database.
type HaltSource interface {
	// Form names the source. Required, and unique within an application.
	Form() string
	// Read returns what is stopped at the moment. It should take well under a
	// second.
	Read(ctx context.Context) ([]Halt, error)
}

// watched is a source and when it was last read.
type watched struct {
	HaltSource
	read atomic.Int64 // Unix time in nanoseconds; zero: never
}

// Watch reads the sources of [Options.HaltSources] until ctx ends, and only
// while it runs are they read: package serve runs it, and an application that
// is served in another way must. Without sources it returns at once.
func (a *App) Watch(ctx context.Context) {
	if len(a.switches) == 0 {
		return
	}
	ticker := time.NewTicker(HaltPoll)
	defer ticker.Stop()
	for {
		for _, s := range a.switches {
			a.readSwitch(ctx, s)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (a *App) readSwitch(ctx context.Context, s *watched) {
	ctx, cancel := context.WithTimeout(ctx, HaltLease)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			_ = a.panicked(ctx, "halt source "+s.Form(), v)
		}
	}()
	began := time.Now()
	list, err := s.Read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.logger.ErrorContext(ctx, "halt source cannot be read", slog.String("form", s.Form()), slog.Any("cause", err))
		}
		return
	}
	a.setHalts(s.Form(), list)
	s.read.Store(began.UnixNano())
}

// switchesRead reports whether what every source says is known.
func (a *App) switchesRead() bool {
	for _, s := range a.switches {
		if time.Since(time.Unix(0, s.read.Load())) > HaltLease {
			return false
		}
	}
	return true
}

// HaltFile returns the form "file" of the switch: while the file exists, what
// its lines name is stopped (see [ParseHalt]); an empty file stops everything,
// and so does a line that cannot be read. Create it with a rename, so that no
// half-written list is read.
func HaltFile(path string) HaltSource { return haltFile(path) }

type haltFile string

func (haltFile) Form() string { return "file" }

func (f haltFile) Read(context.Context) ([]Halt, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Halt
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		h, err := ParseHalt(string(line))
		if err != nil {
			h = Halt{Kind: HaltAll}
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		list = []Halt{{Kind: HaltAll}}
	}
	return list, nil
}
