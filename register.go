package ambit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ambit-dev/ambit/internal/bucket"
)

const maxName = 64

// entry is one registered capability, with everything that a call needs and
// that does not change.
type entry struct {
	public         AnyContract
	contract       *contract
	implementation atomic.Pointer[implementation] // nil while its module is not loaded
	module         *module                        // nil where there is none
	permission     int                            // index into App.permissions; -1 for a capability of one run
	warned         atomic.Bool                    // the operator knows that nobody can be asked about it
	reviewed       atomic.Bool                    // deciders have been found to be shown what callers are, or the operator knows
	broken         atomic.Int32                   // invalid outputs since the last valid one
	maxInput       int
	maxResult      int
	deadline       time.Duration
	rate           bucket.Limit // the capability's own
	hash           Digest       // of the contract
	agent          AgentPolicy  // settled
}

// kept notes that an output was what the contract promised.
func (e *entry) kept() {
	if e.broken.Load() != 0 {
		e.broken.Store(0)
	}
}

// implementation is the half of a capability that is code.
type implementation struct {
	binding    binding
	middleware []Middleware // the application's, then the capability's own
}

// Add registers capabilities. Registration is code, so a mistake is a bug of
// the program: Add panics with the capability's name and the cure. It panics
// too once the application is frozen.
func (a *App) Add(capabilities ...AnyCapability) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range capabilities {
		if c == nil {
			panic("ambit: App.Add was given a nil capability")
		}
		if fault := a.add(c); fault != "" {
			panic(fmt.Sprintf("ambit: capability %q: %s", c.Contract().Name(), fault))
		}
	}
}

func (a *App) add(c AnyCapability) (fault string) {
	e, fault := a.implemented(c)
	if fault != "" {
		return fault
	}
	return a.register(e)
}

// register gives an entry its place among the application's.
func (a *App) register(e *entry) (fault string) {
	if a.frozen.Load() {
		return "added after the application was frozen: add every capability before serving or calling"
	}
	spec := &e.contract.spec
	if a.byName[spec.Name] != nil {
		return "a capability of this name is there already: names are unique"
	}
	if other := a.byTool[e.contract.tool]; other != nil {
		return fmt.Sprintf("its tool name %q is also that of %q: rename one", e.contract.tool, other.contract.spec.Name)
	}
	e.permission = slices.Index(a.permissions, spec.Permission)
	if e.permission < 0 {
		e.permission = len(a.permissions)
		a.permissions = append(a.permissions, spec.Permission)
	}
	a.entries = append(a.entries, e)
	a.byName[spec.Name], a.byTool[e.contract.tool] = e, e
	return ""
}

// implemented checks a capability by itself and prepares it for calls.
func (a *App) implemented(c AnyCapability) (e *entry, fault string) {
	if e, fault = a.entryOf(c.Contract()); fault != "" {
		return nil, fault
	}
	made, fault := a.implement(c)
	if fault != "" {
		return nil, fault
	}
	e.implementation.Store(made)
	return e, ""
}

// entryOf checks a contract by itself.
func (a *App) entryOf(public AnyContract) (e *entry, fault string) {
	core := public.core()
	spec := core.spec
	if fault := specFault(&spec); fault != "" {
		return nil, fault
	}
	if err := core.compile(); err != nil {
		return nil, err.Error()
	}
	if fault := schemaFault(core); fault != "" {
		return nil, fault
	}
	if fault := checkerFault(core.input); fault != "" {
		return nil, fault
	}
	agent := a.agentPolicy(&spec)
	if agent.requires() && spec.Expose.Has(WebMCP) {
		return nil, "Expose has WebMCP on a capability that requires an agent: a page's calls carry no signature, so remove ambit.WebMCP"
	}
	rate, fault := spec.Rate.limit()
	if fault != "" {
		return nil, "Rate is none: " + fault + ": leave Rate zero, or say how many calls in which time"
	}
	return &entry{
		public: public, contract: core, permission: -1,
		maxInput:  orDefault(spec.MaxInput, a.options.MaxInput),
		maxResult: orDefault(spec.MaxResult, a.options.MaxResult),
		deadline:  orDefault(spec.Deadline, a.options.Deadline),
		rate:      rate, hash: core.hash(agent), agent: agent,
	}, ""
}

// implement checks the half of a capability that is code.
func (a *App) implement(c AnyCapability) (*implementation, string) {
	binding, own := c.bind()
	if binding == nil {
		return nil, "has no handler: bind one"
	}
	middleware := slices.Concat(a.options.Middleware, own)
	if fault := middlewareFault(middleware); fault != "" {
		return nil, fault
	}
	return &implementation{binding, middleware}, ""
}

// specFault says what is wrong with a spec and what to do, or nothing.
func specFault(s *Spec) string {
	if fault := nameFault(s.Name); fault != "" {
		return fault
	}
	switch {
	case strings.TrimSpace(s.Description) == "":
		return "Description is missing: say what it does and when to use it"
	case !s.Effect.valid():
		return "Effect is missing: say ambit.Read, Write, Execute, External or Destructive"
	case s.Expose&^exposable != 0:
		return "Expose holds a surface that needs no exposure: the command line and in-process calls reach every capability"
	case s.Expose.Has(WebMCP) && !s.Expose.Has(HTTP):
		return "Expose has WebMCP without HTTP: a page tool's calls travel over HTTP, so expose both"
	case s.Expose.Has(WebMCP) && s.Effect == Destructive:
		return "Expose has WebMCP on a destructive capability: a page cannot ask a person safely, so remove ambit.WebMCP"
	case s.MaxInput < 0 || s.MaxResult < 0 || s.Deadline < 0:
		return "MaxInput, MaxResult or Deadline is negative: leave it zero for the application's"
	}
	if fault := permissionFault(s.Permission); fault != "" {
		return fault
	}
	switch {
	case s.AgentPolicy > RequireAgentOnce:
		return "AgentPolicy is none of those that exist: leave it zero for the application's"
	case len(s.GrantBy) > 0 && s.Effect == Destructive:
		return "GrantBy on a destructive capability: no answer for a session is kept for it, so remove GrantBy"
	}
	if fault := s.decisionFault(); fault != "" {
		return fault
	}
	for _, k := range s.Callers {
		if int(k) >= len(kindNames) {
			return "Callers holds a kind that does not exist"
		}
	}
	if fault := scopeListFault(s.Scopes); fault != "" {
		return "Scopes: " + fault
	}
	return pathFault(s.Path)
}

// nameFault checks dot-separated segments of [a-z][a-z0-9_]*.
func nameFault(name string) string {
	if name == "" {
		return "Name is missing"
	}
	if len(name) > maxName {
		return "Name is longer than 64 bytes: shorten it"
	}
	for segment := range strings.SplitSeq(name, ".") {
		if !validSegment(segment) {
			return "Name is not dot-separated segments of a-z, 0-9 and underscore that start with a letter, as in \"notes.search\""
		}
	}
	return ""
}

func validSegment(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || c == '_')) {
			return false
		}
	}
	return s != ""
}

// pathFault checks a static path: unreserved characters (RFC 3986, section
// 2.3) in segments that are neither empty nor dots.
func pathFault(path string) string {
	if path == "" {
		return ""
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return fmt.Sprintf("Path %q has an empty or dot segment: use static segments, as in \"notes/search\"", path)
		}
		for i := range len(segment) {
			c := segment[i]
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0) {
				return fmt.Sprintf("Path %q has the character %q: use letters, digits and -._~ only", path, c)
			}
		}
	}
	return ""
}

// schemaFault checks what the surfaces ask of the schemas.
func schemaFault(c *contract) string {
	s := &c.spec
	switch {
	case s.Expose&(MCP|WebMCP|Assistant) != 0 && !c.in.IsObject():
		return "its input is not an object, which MCP, page tools and model providers need: make the input a struct"
	case c.out.HasSecret():
		return "its output has a secret field: a secret is never part of a result, so remove the field"
	case c.in.HasSecret() && len(s.Examples) > 0:
		return "it has examples and a secret field: a secret has no example, so remove the examples"
	}
	for _, name := range s.GrantBy {
		if !slices.Contains(c.in.Members(), name) {
			return fmt.Sprintf("GrantBy names %q, which is no member of its input: use the JSON names of the input's fields", name)
		}
	}
	for i, example := range s.Examples {
		if faults := c.in.Check([]byte(example.Input), 0); len(faults) > 0 {
			return fmt.Sprintf("its example %s is not a valid input: %s", exampleName(i, example), located(faults[0]))
		}
	}
	return ""
}

// exampleName is an example's title, or its number where it has none.
func exampleName(i int, example Example) string {
	if example.Title == "" {
		return strconv.Itoa(i + 1)
	}
	return strconv.Quote(example.Title)
}

// middlewareFault checks one chain.
func middlewareFault(chain []Middleware) string {
	for i, m := range chain {
		switch {
		case m.Name == "":
			return "middleware without a name: name it"
		case m.Wrap == nil:
			return fmt.Sprintf("middleware %q has no Wrap function", m.Name)
		case slices.ContainsFunc(chain[:i], func(other Middleware) bool { return other.Name == m.Name }):
			return fmt.Sprintf("middleware %q stands twice in one chain: remove one", m.Name)
		}
	}
	return ""
}

// toolName turns a dotted name into the form that tool protocols accept.
func toolName(name string) string { return strings.ReplaceAll(name, ".", "_") }
