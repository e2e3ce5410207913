package ambit

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// HaltKind says what a [Halt] stops.
type HaltKind uint8

// The kinds of halt.
const (
	// HaltAll stops every call.
	HaltAll HaltKind = iota + 1
	// HaltChanges stops every call but reads.
	HaltChanges
	// HaltAgents stops calls by principals of KindAgent, those that a verified
	// agent carries, and whatever came by MCP, a page tool, an assistant, a
	// sandbox or a schedule.
	HaltAgents
	// HaltPrincipal stops the calls of the principal whose key is Halt.Of.
	HaltPrincipal
	// HaltTenant stops the calls of every principal of the tenant Halt.Of.
	HaltTenant
	// HaltCapability stops calls of the capability named Halt.Of.
	HaltCapability
)

var haltNames = [...]string{"", "all", "changes", "agents", "principal", "tenant", "capability"}

// Halt is one thing that the halt switch stops.
type Halt struct {
	// Kind is required. A Halt without one, such as Halt{}, or of a kind that
	// does not exist stops everything.
	Kind HaltKind
	// Of is the principal's key (see [Principal.Key]), the tenant or the
	// capability's name, for the kinds that have one; empty for the others. The
	// empty tenant is a tenant.
	Of string
}

// String returns the halt as [ParseHalt] reads it.
func (h Halt) String() string {
	if h.Kind == 0 || int(h.Kind) >= len(haltNames) {
		return "invalid"
	}
	if h.Kind < HaltPrincipal {
		return haltNames[h.Kind]
	}
	return haltNames[h.Kind] + " " + h.Of
}

// ParseHalt reads one line: "all", "changes", "agents", "principal KEY",
// "tenant NAME" or "capability NAME". KEY must have the form that
// [Principal.Key] gives it; whether somebody has that key, and whether there is
// a tenant or a capability of that name, is not asked.
func ParseHalt(line string) (Halt, error) {
	kind, of, _ := strings.Cut(line, " ")
	h := Halt{Of: of}
	if k := slices.Index(haltNames[1:], kind); k >= 0 {
		h.Kind = HaltAll + HaltKind(k)
	}
	switch {
	case h.Kind == HaltPrincipal && !isKey(of):
		return Halt{}, fmt.Errorf("ambit: %q is no key of a principal: one has the form LEN:TENANT/LEN:AUTHORITY/SUBJECT, such as 0:/5:stdio/editor", cut(of, maxQuoted))
	case h.Kind == 0, h.Kind < HaltPrincipal && of != "", h.Kind == HaltCapability && of == "":
		return Halt{}, fmt.Errorf("ambit: %q is no halt: use all, changes, agents, principal KEY, tenant NAME or capability NAME", cut(line, maxQuoted))
	}
	return h, nil
}

// maxQuoted is the most characters that are said again of what is no halt.
const maxQuoted = 100

// agentSurfaces are the ways in that a model or nobody stands behind.
const agentSurfaces = MCP | WebMCP | Assistant | Sandbox | Schedule

// stops reports whether the halt is about a call.
func (h Halt) stops(call *Call) bool {
	switch h.Kind {
	case HaltAll:
		return true
	case HaltChanges:
		return call.Effect() != Read
	case HaltAgents:
		return call.run.via&agentSurfaces != 0 || call.run.led((*Run).byAgent)
	case HaltPrincipal:
		return call.run.led(func(r *Run) bool { return r.key == h.Of })
	case HaltTenant:
		return call.run.led(func(r *Run) bool { return r.who().Tenant == h.Of })
	case HaltCapability:
		return h.Of == call.Capability()
	}
	return true
}

// byAgent reports whether an agent works in the run, or carries its request.
func (r *Run) byAgent() bool { return r.agent.Verified() || r.who().Kind == KindAgent }

// led reports whether a run, or one of those that it was made in, is such a one.
func (r *Run) led(such func(*Run) bool) bool {
	for ; r != nil; r = r.above {
		if such(r) {
			return true
		}
	}
	return false
}

// halts is what every form of the switch stops at the moment. It is replaced as
// a whole, under App.haltMu.
type halts struct {
	forms map[string][]Halt
	all   []Halt // of every form
}

// Halt stops calls: those that begin from now on are refused as CodeHalted, and
// those under way that it is about are canceled. Form names the switch that it
// is thrown with, such as "process": the forms unite, and each is released by
// its own [App.Resume]. Halting a form again replaces what it stopped. It
// returns when the switch is thrown, not when the last call has ended.
func (a *App) Halt(form string, halts ...Halt) {
	a.setHalts(form, halts)
}

// Resume releases one form of the halt switch. What other forms stop stays
// stopped. Whoever may call it decides for everybody: keep it out of reach of
// capabilities and agents.
func (a *App) Resume(form string) { a.setHalts(form, nil) }

// Halts returns what is stopped at the moment, by form.
func (a *App) Halts() map[string][]Halt {
	state := a.halts.Load()
	if state == nil {
		return nil
	}
	forms := make(map[string][]Halt, len(state.forms))
	for form, list := range state.forms {
		forms[form] = slices.Clone(list)
	}
	return forms
}

// haltSelf stops a capability that keeps breaking its own contract.
func (a *App) haltSelf(capability string) {
	h := Halt{Kind: HaltCapability, Of: capability}
	a.haltMu.Lock()
	defer a.haltMu.Unlock()
	var self []Halt
	if state := a.halts.Load(); state != nil {
		self = state.forms["self"]
	}
	if !slices.Contains(self, h) {
		a.changeHalts("self", append(slices.Clone(self), h))
	}
}

func (a *App) setHalts(form string, list []Halt) {
	a.haltMu.Lock()
	defer a.haltMu.Unlock()
	a.changeHalts(form, list)
}

// changeHalts replaces what a form stops, with haltMu held.
func (a *App) changeHalts(form string, list []Halt) {
	old := a.halts.Load()
	if old != nil && slices.Equal(old.forms[form], list) || old == nil && len(list) == 0 {
		return
	}
	next := &halts{forms: map[string][]Halt{}}
	if old != nil {
		maps.Copy(next.forms, old.forms)
	}
	delete(next.forms, form)
	if len(list) > 0 {
		next.forms[form] = slices.Clone(list)
	}
	for _, name := range slices.Sorted(maps.Keys(next.forms)) {
		next.all = append(next.all, next.forms[name]...)
	}
	if len(next.all) == 0 {
		a.halts.Store(nil)
	} else {
		a.halts.Store(next)
	}
	a.logger.Warn("halt switch", slog.String("form", form), slog.Any("stops", list))
	a.warnOfHalts(form, list)
	a.active.cancel(list)
}

// warnOfHalts tells the operator of halts that stop nobody, which are slips
// more often than not. Which capabilities there are is known once the
// application is frozen; those that a run brings along are not its own.
func (a *App) warnOfHalts(form string, list []Halt) {
	for _, h := range list {
		switch {
		case h.Kind == HaltCapability && a.frozen.Load() && a.byName[h.Of] == nil:
			a.logger.Warn("a halt names a capability that the application does not have", slog.String("form", form), slog.String("capability", h.Of))
		case h.Kind == HaltPrincipal && !isKey(h.Of):
			a.logger.Warn("a halt names a principal by what is no key of one: see Principal.Key", slog.String("form", form), slog.String("principal", h.Of))
		}
	}
}

// halted refuses a call that the switch stops, or that a switch which cannot be
// read would have to allow.
func (a *App) halted(call *Call) *Error {
	if state := a.halts.Load(); state != nil {
		for _, h := range state.all {
			if h.stops(call) {
				return haltedError("Calls of this kind have been stopped by the application's operator.")
			}
		}
	}
	if call.Effect() > Read {
		if cause := a.unreadSwitch(); cause != nil {
			e := haltedError("The application cannot tell whether calls have been stopped, so it takes none but reads.")
			e.cause = cause
			return e
		}
	}
	return nil
}

func haltedError(message string) *Error {
	return &Error{Code: CodeHalted, Message: message, Hint: "Do not try again until a person says so."}
}
