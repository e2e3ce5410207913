package ambit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-dev/ambit/internal/bucket"
	"github.com/ambit-dev/ambit/schema"
)

// Bounds that hold unless [Options] or a [Spec] say otherwise.
const (
	DefaultMaxInput  = 1 << 20             // bytes of one input
	DefaultMaxResult = 1 << 20             // bytes of one result
	DefaultDeadline  = 30 * time.Second    // from the start of the handler
	DefaultDepth     = schema.DefaultDepth // nesting of one input
	MaxCallDepth     = 16                  // calls within calls
)

// Options are what an application says once. The zero value of every field but
// Name is the safe choice; what cannot work is reported by [App.Freeze].
type Options struct {
	// Name is the application's name, as agents see it. Required.
	Name string
	// Title is its name for people. Empty: Name.
	Title string
	// Version is the application's version. Empty: "0.0.0".
	Version string
	// Instructions tell an agent in a few sentences what the application is
	// for and how its capabilities go together.
	Instructions string
	// Policy decides who holds which permission. Nil: a principal holds
	// exactly the permissions that it lists.
	Policy Policy
	// Authorize is a second rule beside permission, over the whole contract
	// and the principal; it runs for calls and listings alike and must change
	// nothing. A message that is not empty refuses and is sent to the caller.
	// Nil: no such rule.
	Authorize func(ctx context.Context, c AnyContract, p *Principal) (refusal string)
	// Resolve returns a principal as it is now, so that a permission that was
	// taken away is missed by calls of a run that began before: it is asked
	// when the principal is older than Freshness and after every wait for a
	// person. Nil for a principal that no longer exists; an error refuses as
	// unavailable. The key must not change, and scopes only shrink. Nil:
	// principals stay as the run got them.
	Resolve func(ctx context.Context, p *Principal) (*Principal, error)
	// Context puts the application's own values into the context of every run
	// that begins. It must return a context made from ctx. Nil: none.
	Context func(ctx context.Context, p *Principal) context.Context
	// RunOptions adjusts the options of every run that is part of no other,
	// whoever begins it: a prompter, a session or a budget for this caller, a
	// mode for this surface. Ctx is what the run is begun with; on HTTP it
	// descends from the request's. Principal, Surface, Request, Agent and Log
	// stay as they were. Nil: options stay as they are.
	RunOptions func(ctx context.Context, o RunOptions) RunOptions
	// Modes sets how much runs of a surface may do without asking. A surface
	// that is not named keeps its own, see [ModeUnset].
	Modes map[Surface]Mode
	// Monitor reviews calls that are about to run. Nil: none does.
	Monitor Monitor
	// HaltSources are forms of the halt switch that live outside of the
	// process, see [App.Watch]. None: [App.Halt] is the only form.
	HaltSources []HaltSource
	// HaltAfter halts a capability that has broken its own output contract so
	// many times in a row, until somebody resumes the form "self". Zero: never.
	HaltAfter int
	// Keys seal what leaves the application and comes back: confirmations,
	// cursors, outcomes, and the inputs that wait for a decision. Nil: cursors
	// and outcomes are sealed with keys of this process, which end with it, and
	// nothing that has to be confirmed or approved can be.
	Keys *KeyRing
	// ReviewKeys seal, besides Keys, what persons are shown who decide: inputs,
	// previews and summaries of proposals. A process that has only halves that seal
	// runs agents' work like any other, and nobody decides in it. Nil: Keys are all,
	// and whoever has them can decide.
	ReviewKeys *ReviewKeys
	// Approver keeps what has to be confirmed or approved. Nil: whatever needs
	// that is refused.
	Approver Approver
	// Ledger keeps what was done under idempotency keys and by approvals. Nil:
	// the Approver's, which it has to be, or to wrap (see [Ledger]), where there is one;
	// without both, a keyed call that does more than read is refused, because the
	// promise could not be kept.
	Ledger Ledger
	// DestructiveOverMCP lets destructive capabilities be exposed on MCP, where
	// a person decides on each call: that takes Approver and Keys too.
	DestructiveOverMCP bool
	// DecidePermission is what a person has to hold to decide about a proposal,
	// where the capability does not say otherwise. Empty: "approvals:decide".
	DecidePermission string
	// ConfirmWithin is how long a confirmation can be used, DecideWithin how long
	// a proposal waits for a person's decision, and ExecuteWithin how long after
	// the decision the call can be made, where the capability does not say
	// otherwise. Zero: 120 seconds, 24 hours, 15 minutes.
	ConfirmWithin, DecideWithin, ExecuteWithin time.Duration
	// HideForbidden answers a capability whose permission the caller lacks as
	// if it did not exist.
	HideForbidden bool
	// AgentPolicy is what capabilities want of the agents that carry calls where
	// they do not say it themselves. Zero: AgentObserve.
	AgentPolicy AgentPolicy
	// ImpliedScopes maps a scope to narrower ones that it includes, and those
	// include what they are mapped to: a credential with the broader scope will
	// do where the narrower one is needed. Nil: each scope is itself alone.
	ImpliedScopes map[string][]string
	// Middleware runs around every handler, outermost first.
	Middleware []Middleware
	// Observers see every call, in order.
	Observers []Observer
	// Logger takes messages for the operator. Nil: slog.Default().
	Logger *slog.Logger
	// MaxInput and MaxResult bound inputs and results in bytes, MaxDepth the
	// nesting of an input. Zero: the defaults above.
	MaxInput, MaxResult, MaxDepth int
	// Limits hold each caller to a share of the application.
	Limits Limits
	// MaxRunDepth is how deep runs within runs may go. Zero: 3.
	MaxRunDepth int
	// Deadline is how long a handler may take. Zero: 30 seconds.
	Deadline time.Duration
	// Repair is the set of surfaces on which an input that fails its check is
	// tried once more with strings that spell a number or a boolean mended,
	// where the schema wants that type: models send such. Zero: none.
	Repair Surface
	// SupportContact is whom callers are told to turn to.
	SupportContact string
	// Development adds the text of handler errors and the faults of invalid
	// outputs to answers. It is refused for anyone who is not on the same
	// machine.
	Development bool
}

// App is an application's set of capabilities. Make one with [New], add
// capabilities, then serve it; the set is fixed from then on. Methods are safe
// for concurrent use, except that Add must be done before anything else starts.
type App struct {
	options   Options
	policy    Policy
	logger    *slog.Logger
	observers []Observer
	joiner    Joiner   // the ledger, where it is one
	recorder  Recorder // the ledger, where it is one
	seals     seals
	ids       atomic.Uint64 // last ID given out

	previewOnce   sync.Once
	previewSchema *schema.Schema // of Preview; nil until something needs it

	broader    broader      // of Options.ImpliedScopes
	rate       bucket.Limit // Options.Limits.Rate
	sharing    sharing
	callers    *callers
	inputBytes atomic.Int64 // of the calls at work

	active   active                     // calls under way
	switches atomic.Pointer[[]*watched] // replaced whole, under mu; nil: there are none
	watching bool                       // the switches are being read: no more are taken; under mu
	halts    atomic.Pointer[halts]      // nil: nothing is stopped
	haltMu   sync.Mutex                 // held while halts changes

	mu          sync.Mutex // guards registration
	frozen      atomic.Bool
	freeze      error // what Freeze found; set before frozen
	notices     []string
	entries     []*entry
	byName      map[string]*entry
	byTool      map[string]*entry
	modules     []*module
	permissions []string // the distinct permissions; an entry holds its index
}

// New returns an application without capabilities. It does no I/O and does not
// fail: a mistake in the options is reported by [App.Freeze].
func New(options Options) *App {
	a := &App{options: options, policy: options.Policy, logger: options.Logger}
	a.options.Middleware = slices.Clone(options.Middleware)
	a.options.Modes = maps.Clone(options.Modes)
	a.observers = slices.Clone(options.Observers)
	if a.policy == nil {
		a.policy = listed{}
	}
	if a.logger == nil {
		a.logger = slog.Default()
	}
	if a.options.Title == "" {
		a.options.Title = a.options.Name
	}
	if a.options.Version == "" {
		a.options.Version = "0.0.0"
	}
	a.options.MaxInput = orDefault(options.MaxInput, DefaultMaxInput)
	a.options.MaxResult = orDefault(options.MaxResult, DefaultMaxResult)
	a.options.MaxDepth = orDefault(options.MaxDepth, DefaultDepth)
	a.options.Deadline = orDefault(options.Deadline, DefaultDeadline)
	a.options.Limits = options.Limits.withDefaults()
	a.rate, _ = a.options.Limits.Rate.limit() // Freeze reports the fault
	a.callers = newCallers()
	a.broader = newBroader(options.ImpliedScopes)
	for _, s := range options.HaltSources {
		a.addSwitch(s)
	}
	a.byName, a.byTool = map[string]*entry{}, map[string]*entry{}
	var random [8]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read never fails (Go 1.24)
	a.ids.Store(binary.LittleEndian.Uint64(random[:]))
	a.seals = newSeals(options.Keys, options.ReviewKeys, options.Name)
	if options.Ledger == nil && options.Approver != nil {
		a.options.Ledger = options.Approver.Ledger()
	}
	a.joiner, _ = a.options.Ledger.(Joiner)
	a.recorder, _ = a.options.Ledger.(Recorder)
	if part, ok := a.options.Ledger.(interface{ Observer() Observer }); ok { // an audit record has to see every call
		if o := part.Observer(); !slices.ContainsFunc(a.observers, func(other Observer) bool { return same(other, o) }) {
			a.observers = append(a.observers, o)
		}
	}
	a.options.DecidePermission = cmp.Or(options.DecidePermission, DefaultDecidePermission)
	a.options.ConfirmWithin = orDefault(options.ConfirmWithin, DefaultConfirmWithin)
	a.options.DecideWithin = orDefault(options.DecideWithin, DefaultDecideWithin)
	a.options.ExecuteWithin = orDefault(options.ExecuteWithin, DefaultExecuteWithin)
	return a
}

// Observe adds an observer behind those of [Options.Observers], for code that
// is given an application and did not make it, such as a test host. A frozen
// application takes none: the error says so.
func (a *App) Observe(o Observer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frozen.Load() {
		return errors.New("ambit: App.Observe after the application was frozen: add observers before serving or calling")
	}
	a.observers = append(a.observers, o)
	return nil
}

// Observers returns the observers in order, those of [Options.Observers] first, for
// code that was given an application which takes none any more, such as a test
// host. The slice is the caller's own.
func (a *App) Observers() []Observer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.observers)
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Freeze ends registration and checks the options and what needs the whole
// application. Serving calls it; calling it again returns the same answer. An
// application whose Freeze failed answers every call with CodeUnavailable.
func (a *App) Freeze() error {
	if a.frozen.Load() {
		return a.freeze
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frozen.Load() {
		return a.freeze
	}
	slices.SortFunc(a.entries, func(x, y *entry) int { return strings.Compare(x.dotted(), y.dotted()) })
	a.freeze = a.check()
	a.frozen.Store(true)
	return a.freeze
}

// check finds what is wrong with the application as a whole.
func (a *App) check() error {
	var faults []error
	o := a.options
	if strings.TrimSpace(o.Name) == "" {
		faults = append(faults, errors.New("ambit: Options.Name is missing: give the application a name"))
	}
	for _, bound := range [...]struct {
		name  string
		value int64
	}{
		{"MaxInput", int64(o.MaxInput)},
		{"MaxResult", int64(o.MaxResult)},
		{"MaxDepth", int64(o.MaxDepth)},
		{"MaxRunDepth", int64(o.MaxRunDepth)},
		{"HaltAfter", int64(o.HaltAfter)},
		{"Deadline", int64(o.Deadline)},
		{"ConfirmWithin", int64(o.ConfirmWithin)},
		{"DecideWithin", int64(o.DecideWithin)},
		{"ExecuteWithin", int64(o.ExecuteWithin)},
	} {
		if bound.value < 0 {
			faults = append(faults, fmt.Errorf("ambit: Options.%s is negative: leave it zero for the default", bound.name))
		}
	}
	faults = append(faults, o.Limits.faults()...)
	if fault := middlewareFault(o.Middleware); fault != "" {
		faults = append(faults, errors.New("ambit: Options.Middleware: "+fault))
	}
	if o.Repair&^(exposable|CommandLine) != 0 {
		faults = append(faults, errors.New("ambit: Options.Repair holds a surface that does not exist"))
	}
	if o.AgentPolicy > RequireAgentOnce {
		faults = append(faults, errors.New("ambit: Options.AgentPolicy is none of those that exist: leave it zero"))
	}
	faults = append(faults, impliedFaults(o.ImpliedScopes)...)
	for surface, mode := range o.Modes {
		if !surface.single() || mode > ModeAuto {
			faults = append(faults, fmt.Errorf("ambit: Options.Modes: %s: %s: name single surfaces and modes that exist", surface, mode))
		}
	}
	forms := map[string]bool{}
	for i, s := range a.sources() {
		switch {
		case s.HaltSource == nil:
			faults = append(faults, errors.New("ambit: Options.HaltSources holds nil: leave it out"))
		case reservedForm(s.Form()) || forms[s.Form()]:
			faults = append(faults, fmt.Errorf("ambit: Options.HaltSources: source %d has the form %q: forms are unique, "+freeForms, i, s.Form()))
		default:
			forms[s.Form()] = true
		}
	}
	faults = append(faults, a.ready()...)
	if slices.Contains(a.observers, nil) {
		faults = append(faults, errors.New("ambit: Options.Observers holds nil: leave it out"))
	}
	faults = append(faults, o.reviewFaults()...)
	faults = append(faults, a.approvalFaults()...)
	return errors.Join(faults...)
}

// Name returns [Options.Name].
func (a *App) Name() string { return a.options.Name }

// Title returns [Options.Title], or the name where none was given.
func (a *App) Title() string { return a.options.Title }

// Version returns [Options.Version], or "0.0.0".
func (a *App) Version() string { return a.options.Version }

// Instructions returns [Options.Instructions].
func (a *App) Instructions() string { return a.options.Instructions }

// SupportContact returns [Options.SupportContact].
func (a *App) SupportContact() string { return a.options.SupportContact }

// Development reports [Options.Development].
func (a *App) Development() bool { return a.options.Development }

// Approver returns [Options.Approver]. Nil: there is none.
func (a *App) Approver() Approver { return a.options.Approver }

// MaxInput returns the most bytes that an input may have where its capability
// does not say otherwise: [Options.MaxInput], or DefaultMaxInput.
func (a *App) MaxInput() int { return a.options.MaxInput }

// Logger returns where messages for the operator go. It is never nil.
func (a *App) Logger() *slog.Logger { return a.logger }

// Capabilities returns the contracts of all capabilities in the order of their
// names, whoever may call them: for start-up tables and inspection, not for
// callers. It freezes the application.
func (a *App) Capabilities() []AnyContract {
	_ = a.Freeze()
	contracts := make([]AnyContract, len(a.entries))
	for i, e := range a.entries {
		contracts[i] = e.public
	}
	return contracts
}

func (a *App) nextID() ID { return ID(a.ids.Add(1)) }

func (a *App) errorOptions() ErrorOptions {
	return ErrorOptions{SupportContact: a.options.SupportContact}
}
