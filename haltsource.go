package ambit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
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

// AddHaltSource adds a source to those of [Options.HaltSources], for code that
// is given an application and did not make it, such as a command line. A frozen
// application takes none: the error says so.
func (a *App) AddHaltSource(s HaltSource) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frozen.Load() {
		return errors.New("ambit: App.AddHaltSource after the application was frozen: add halt sources before serving or calling")
	}
	a.switches = append(a.switches, &watched{HaltSource: s})
	return nil
}

// ReadHaltSources reads every source once. Whoever serves does so before the
// first call comes, which would otherwise be refused where it is no read,
// because nobody can tell yet whether it is stopped. It freezes the application.
func (a *App) ReadHaltSources(ctx context.Context) {
	a.eachSwitch(func(s *watched) { a.readSwitch(ctx, s) })
}

// Watch reads every source until ctx ends, each by itself, and only while it
// runs are they read: package serve runs it, and an application that is served
// in another way must. Without sources it returns at once. It freezes the
// application.
func (a *App) Watch(ctx context.Context) {
	a.eachSwitch(func(s *watched) { a.watch(ctx, s) })
}

// eachSwitch works on all sources at a time, so that none waits for another.
func (a *App) eachSwitch(work func(*watched)) {
	if a.Freeze() != nil {
		return // it answers no call
	}
	var sources sync.WaitGroup
	for _, s := range a.switches {
		sources.Go(func() { work(s) })
	}
	sources.Wait()
}

func (a *App) watch(ctx context.Context, s *watched) {
	ticker := time.NewTicker(HaltPoll)
	defer ticker.Stop()
	for {
		a.readSwitch(ctx, s)
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
// and so does a line that cannot be read. Where its folder is missing the switch
// cannot be read. Create it with a rename, so that no half-written list is read.
func HaltFile(path string) HaltSource { return haltFile(path) }

type haltFile string

func (haltFile) Form() string { return "file" }

func (f haltFile) Read(context.Context) ([]Halt, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(string(f)))
		return nil, err
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
