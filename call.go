package ambit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Progress is how far a call has come.
type Progress struct {
	// Done is how much is done, in the handler's own unit. It grows.
	Done float64
	// Total is how much there is to do; zero where nobody knows.
	Total float64
	// Message says in a few words what is going on. May be empty.
	Message string
}

// Call is one invocation of one capability, as its handler and middleware see
// it; they get it from [FromContext]. Methods are safe for concurrent use, and
// those of a nil Call return zero values and do nothing, so that a handler can
// be tested as the plain function that it is.
type Call struct {
	run    *Run
	entry  *entry // nil for an unknown name
	id     ID
	parent *Call
	reason string
	waited time.Duration // for a person
	input  int           // bytes
	output int           // bytes
	once   *once         // nil unless the call has to happen once
	ctx    callContext

	next, previous *Call // in the list of active calls

	mu       sync.Mutex // held while progress runs
	progress func(Progress)

	// refusal, didMore and entered tell whether an error vouches by its code alone
	// that nothing happened: not where a nested call had an effect, nor where
	// middleware returns an error that is not the handler's, which had begun.
	refusal atomic.Pointer[Error]
	marks   atomic.Uint32

	judged   bool // admit has said whether the name is one for this caller
	hidden   bool // it is none
	ran      bool
	ended    bool  // guarded by mu
	limit    Limit // what the call had too much of
	surface  Surface
	depth    int32
	repaired int32        // values of the input
	slots    int32        // slots of the principal in use once it had its own
	away     atomic.Int32 // for how many reasons an outermost call has no slot, see slot.go
}

// The bits of Call.marks.
const (
	didMore    uint32 = 1 << iota // a call within had an effect that would be repeated
	entered                       // the handler has been called
	previewing                    // what runs is the preview
	lacking                       // the principal is known and has not the permission
)

// is reports whether a mark is set.
func (c *Call) is(mark uint32) bool { return c.marks.Load()&mark != 0 }

// callContext is a call's context; the call holds it, so that both are one
// allocation.
type callContext struct {
	lazyContext
	call *Call
}

func (c *callContext) Value(key any) any {
	switch key {
	case callKey{}:
		return c.call
	case runKey{}:
		return c.call.run
	}
	return c.value(key)
}

// FromContext returns the call that ctx belongs to, or nil outside a call.
func FromContext(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// ID returns the call's id in the records of this process.
func (c *Call) ID() ID {
	if c == nil {
		return 0
	}
	return c.id
}

// Capability returns the dotted name of the capability that is called.
func (c *Call) Capability() string {
	if c == nil || c.entry == nil {
		return ""
	}
	return c.entry.contract.spec.Name
}

// Effect returns the effect that the capability declares.
func (c *Call) Effect() Effect {
	if c == nil || c.entry == nil {
		return 0
	}
	return c.entry.contract.spec.Effect
}

// Run returns the run that the call belongs to.
func (c *Call) Run() *Run {
	if c == nil {
		return nil
	}
	return c.run
}

// Principal returns a copy of who is calling, nil outside a call.
func (c *Call) Principal() *Principal { return c.Run().Principal() }

// Surface returns where the call came in; a call made by a handler is
// InProcess.
func (c *Call) Surface() Surface {
	if c == nil {
		return InProcess
	}
	return c.surface
}

// Via returns every surface that led to the call, however deep it is.
func (c *Call) Via() Surface { return c.Run().Via() }

// Reason returns the caller's one-line reason, which is the caller's word and
// nothing more.
func (c *Call) Reason() string {
	if c == nil {
		return ""
	}
	return c.reason
}

// Progress tells the caller how far the call has come, where the surface and
// the caller care. The message is sent: it must hold nothing internal. It does
// nothing once the call has ended.
func (c *Call) Progress(done, total float64, message string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress != nil && !c.ended {
		c.progress(Progress{Done: done, Total: total, Message: message})
	}
}

// end cancels the call's context and silences it.
func (c *Call) end() {
	if c.progress != nil { // or else nobody asks
		c.mu.Lock()
		c.ended = true
		c.mu.Unlock()
	}
	c.ctx.close()
}
