package ambit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Module is a set of contracts whose implementations are loaded when one of
// them is first called: for an application with many capabilities, or with
// implementations that are dear to set up. Listings and everything else that
// only reads contracts load nothing.
type Module struct {
	// Name is how errors call the module. Required, and unique.
	Name string
	// Contracts are what the module provides.
	Contracts []AnyContract
	// Load returns the implementations: one capability for each of Contracts,
	// bound to that very contract, and no other. It is called by the first
	// call that has the right to run, with that call's context, and by no two
	// calls at once; once it has succeeded it is not called again. When it
	// fails, its callers get CodeUnavailable and the next call tries again.
	Load func(ctx context.Context) ([]AnyCapability, error)
}

// module is a registered Module.
type module struct {
	Module
	entries []*entry
	turn    chan struct{} // holds one value; whoever takes it may load
}

// AddModule registers modules. Like [App.Add] it panics with the name and the
// cure when a contract or a module is wrong.
func (a *App) AddModule(modules ...Module) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range modules {
		if fault := a.addModule(m); fault != "" {
			panic(fmt.Sprintf("ambit: module %q: %s", m.Name, fault))
		}
	}
}

func (a *App) addModule(m Module) (fault string) {
	switch {
	case m.Name == "":
		return "Name is missing"
	case m.Load == nil:
		return "Load is missing"
	case len(m.Contracts) == 0:
		return "it has no contracts"
	case slices.ContainsFunc(a.modules, func(other *module) bool { return other.Name == m.Name }):
		return "a module of this name is there already: names are unique"
	}
	own := &module{Module: m, turn: make(chan struct{}, 1)}
	own.turn <- struct{}{}
	for _, c := range m.Contracts {
		if c == nil {
			return "Contracts holds nil"
		}
		e, fault := a.entryOf(c)
		if fault == "" {
			fault = a.register(e)
		}
		if fault != "" {
			return fmt.Sprintf("capability %q: %s", c.Name(), fault)
		}
		e.module = own
		own.entries = append(own.entries, e)
	}
	a.modules = append(a.modules, own)
	return ""
}

// LoadModules loads every module that has not been loaded: to begin with
// everything in place, or in a test that the two halves of each module fit. The
// error names everything that is wrong.
func (a *App) LoadModules(ctx context.Context) error {
	_ = a.Freeze()
	var faults []error
	for _, m := range a.modules {
		if err := a.load(ctx, m); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// loaded makes sure that the implementation of a call's capability is there.
func (a *App) loaded(call *Call, e *entry) *Error {
	if e.implementation.Load() != nil {
		return nil
	}
	ctx := call.ctx.parent
	if err := a.load(ctx, e.module); err != nil {
		if ctx.Err() != nil {
			return contextError(ctx.Err())
		}
		return &Error{Code: CodeUnavailable, cause: err}
	}
	return nil
}

// load loads a module once. Waiting for another call's load ends with ctx.
func (a *App) load(ctx context.Context, m *module) error {
	select {
	case <-m.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { m.turn <- struct{}{} }()
	if m.entries[0].implementation.Load() != nil {
		return nil // another call has just done it
	}
	capabilities, err := a.loadAll(ctx, m)
	if err != nil {
		return fmt.Errorf("ambit: module %q did not load: %w", m.Name, err)
	}
	return a.fit(m, capabilities)
}

func (a *App) loadAll(ctx context.Context, m *module) (capabilities []AnyCapability, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(ctx, m.Name, v)
		}
	}()
	return m.Load(ctx)
}

// fit puts loaded implementations to their contracts, all or none.
func (a *App) fit(m *module, capabilities []AnyCapability) error {
	implementations := make([]*implementation, len(m.entries))
	var faults []string
	for i, c := range capabilities {
		if c == nil {
			faults = append(faults, fmt.Sprintf("capability %d that it loaded is nil", i))
			continue
		}
		public := c.Contract()
		at := slices.IndexFunc(m.entries, func(e *entry) bool { return e.contract == public.core() })
		switch made, fault := a.implement(c); {
		case at < 0 && slices.ContainsFunc(m.entries, func(e *entry) bool { return e.dotted() == public.Name() }):
			faults = append(faults, fmt.Sprintf("it loaded %q bound to another contract than the one it declares", public.Name()))
		case at < 0:
			faults = append(faults, fmt.Sprintf("it loaded %q and does not declare it", public.Name()))
		case implementations[at] != nil:
			faults = append(faults, fmt.Sprintf("it loaded %q twice", public.Name()))
		case fault != "":
			faults = append(faults, fmt.Sprintf("%q: %s", public.Name(), fault))
		default:
			implementations[at] = made
		}
	}
	for i, made := range implementations {
		if made == nil {
			faults = append(faults, fmt.Sprintf("it declares %q and loaded nothing that fits", m.entries[i].dotted()))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("ambit: the two halves of module %q differ: %s", m.Name, strings.Join(faults, "; "))
	}
	for i, made := range implementations {
		m.entries[i].implementation.Store(made)
	}
	return nil
}
