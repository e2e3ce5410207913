package ambit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
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
	// second. An error means that nobody knows, except for a [*MisreadHalts]:
	// then the halts hold, and everything is stopped as well.
	Read(ctx context.Context) ([]Halt, error)
}

// MisreadHalts is the error of a [HaltSource] that could be read and holds
// something that is no halt. Because nobody knows what that was to stop, it stops
// everything, and the operator is told.
type MisreadHalts struct {
	// Faults say what is wrong and where, in the order of the source. There is
	// at least one.
	Faults []error
}

// maxFaultsTold is how many faults of one source are told.
const maxFaultsTold = 5

// Error returns the first five faults and how many more there are.
func (m *MisreadHalts) Error() string {
	var text strings.Builder
	for i, fault := range m.Faults {
		if i == maxFaultsTold {
			fmt.Fprintf(&text, "; and %d more", len(m.Faults)-i)
			break
		}
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(fault.Error())
	}
	return text.String()
}

// watched is a source and how it is read.
type watched struct {
	HaltSource
	begun atomic.Uint64             // how many readings have begun
	read  atomic.Pointer[time.Time] // when the reading that holds began; nil: there is none

	mu      sync.Mutex // held while a reading takes effect
	latest  uint64     // the number of the last reading that took effect
	trouble string     // what the log says is wrong with the source; "": nothing
}

// AddHaltSource adds a source to those of [Options.HaltSources], for code that
// is given an application and did not make it, such as a command line. An
// application whose sources are being read takes none, since nobody would read it,
// and no application two of one form: the error says so. A frozen one takes it.
func (a *App) AddHaltSource(s HaltSource) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watching {
		return errors.New("ambit: App.AddHaltSource after App.Watch or App.ReadHaltSources: add halt sources before those that there are get read")
	}
	if s == nil {
		return errors.New("ambit: App.AddHaltSource of nil: leave it out")
	}
	if reservedForm(s.Form()) {
		return fmt.Errorf("ambit: App.AddHaltSource: the form is %q: give the source one that is "+freeForms, s.Form())
	}
	for _, other := range a.sources() {
		if other.HaltSource != nil && other.Form() == s.Form() {
			return fmt.Errorf("ambit: App.AddHaltSource: the application has a halt source of the form %q already: leave one of them out", s.Form())
		}
	}
	a.addSwitch(s)
	return nil
}

// freeForms says what a source's form can be.
const freeForms = "not empty and none of \"self\", \"process\" and \"signal\""

// reservedForm reports whether no source can have a form: it is none, or thrown
// from within.
func reservedForm(form string) bool {
	return form == "" || form == "self" || form == "process" || form == "signal"
}

// addSwitch adds a source. Calls that are under way go on with those there were.
func (a *App) addSwitch(s HaltSource) {
	all := append(slices.Clone(a.sources()), &watched{HaltSource: s})
	a.switches.Store(&all)
}

// sources returns what is read from outside.
func (a *App) sources() []*watched {
	if all := a.switches.Load(); all != nil {
		return *all
	}
	return nil
}

// ReadHaltSources reads every source once. Whoever serves does so before the
// first call comes, which would otherwise be refused where it is no read,
// because nobody can tell yet whether it is stopped. It freezes the application.
func (a *App) ReadHaltSources(ctx context.Context) {
	a.eachSwitch(func(s *watched) { a.readSwitch(ctx, s) })
}

// Watch reads every source four times a second, each by itself, until ctx ends.
// What was read holds for [HaltLease] and no longer, so that Watch has to run for
// as long as calls are taken: packages serve and command run it, and whoever takes
// calls in another way must. Without sources it returns at once. It freezes the
// application.
func (a *App) Watch(ctx context.Context) {
	a.eachSwitch(func(s *watched) { a.watch(ctx, s) })
}

// eachSwitch works on all sources at a time, so that none waits for another.
func (a *App) eachSwitch(work func(*watched)) {
	if a.Freeze() != nil {
		return // it answers no call
	}
	a.mu.Lock()
	a.watching = true
	a.mu.Unlock()
	var readers sync.WaitGroup
	for _, s := range a.sources() {
		readers.Go(func() { work(s) })
	}
	readers.Wait()
}

func (a *App) watch(ctx context.Context, s *watched) {
	ticker := time.NewTicker(HaltPoll)
	defer ticker.Stop()
	wake := make(chan struct{}, 1)
	if n, ok := s.HaltSource.(HaltNotifier); ok {
		var listener sync.WaitGroup
		defer listener.Wait()
		listener.Go(func() { listen(ctx, n, wake) })
	}
	for {
		a.readSwitch(ctx, s)
		select {
		case <-ticker.C:
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// readSwitch reads a source once and takes over what it says.
func (a *App) readSwitch(ctx context.Context, s *watched) {
	number, began := s.begun.Add(1), time.Now()
	list, err := readHalts(ctx, s)
	if err != nil && ctx.Err() != nil {
		return // nobody waits for it any more
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if number < s.latest {
		return // a reading that began later knows better
	}
	s.latest = number
	misread, ok := errors.AsType[*MisreadHalts](err)
	switch {
	case ok:
		list = withAll(list)
		a.logTrouble(ctx, s, "halt source has been misread and stops everything", misread.Error(), misread)
	case err != nil:
		a.logTrouble(ctx, s, "halt source cannot be read", "", err)
		return
	default:
		a.logTrouble(ctx, s, "", "", nil)
	}
	a.setHalts(s.Form(), list)
	s.read.Store(&began)
}

// withAll adds HaltAll to what is stopped.
func withAll(list []Halt) []Halt {
	if all := (Halt{Kind: HaltAll}); !slices.Contains(list, all) {
		return append(list, all)
	}
	return list
}

// readHalts calls the application's code.
func readHalts(ctx context.Context, s HaltSource) (list []Halt, err error) {
	ctx, cancel := context.WithTimeout(ctx, HaltLease)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return s.Read(ctx)
}

// logTrouble logs what is wrong with a source, or that nothing is any more, when
// that changes: not four times a second. Detail is what makes two troubles of one
// kind differ.
func (a *App) logTrouble(ctx context.Context, s *watched, trouble, detail string, cause error) {
	if s.trouble == trouble+detail {
		return
	}
	s.trouble = trouble + detail
	if trouble == "" {
		a.logger.InfoContext(ctx, "halt source is in order again", slog.String("form", s.Form()))
		return
	}
	a.logger.ErrorContext(ctx, trouble, slog.String("form", s.Form()), slog.Any("cause", cause))
}

// unreadSwitch says of which source nobody knows what it stops, if there is one.
func (a *App) unreadSwitch() error {
	for _, s := range a.sources() {
		read := s.read.Load()
		if read == nil {
			return fmt.Errorf("halt source %q was never read: App.Watch has to run, or the log says why it cannot be read", s.Form())
		}
		if age := time.Since(*read); age > HaltLease {
			return fmt.Errorf("halt source %q was last read %s ago, more than %s: App.Watch has to run all the time, or the log says why it cannot be read",
				s.Form(), age.Round(time.Second), HaltLease)
		}
	}
	return nil
}
