package ambit

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ambit-dev/ambit/internal/visible"
)

// Prompter asks the run's own person, now: a terminal, a chat, a dialog. It
// must be safe for concurrent use. A call that waits for it holds no slot and
// no transaction, its run's deadlines and budgets stand still, and everything
// about the call is checked again when the answer comes.
type Prompter interface {
	// Ask shows the question and returns the answer. It returns when ctx ends.
	// An error, and any answer but those below, means no.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// PrompterFunc makes a function a [Prompter].
type PrompterFunc func(ctx context.Context, q Question) (Answer, error)

// Ask calls f.
func (f PrompterFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// Answer is what a person said. The zero Answer is no.
type Answer uint8

// The answers.
const (
	// Deny refuses the call.
	Deny Answer = iota
	// Allow allows this call and nothing else.
	Allow
	// AllowSession allows this call and its like for the [Session]. Where
	// [Question.Session] is false it is Allow.
	AllowSession
)

// Question is what a person is asked about one call.
type Question struct {
	// Capability, Title and Effect say what would be called. Title is never
	// empty: it is the name where the contract has no title.
	Capability, Title string
	Effect            Effect
	// Input is the complete input as the handler would get it, defaults
	// included, with secret values replaced.
	Input json.RawMessage
	// Preview is what the call would change. Nil: the capability cannot say.
	Preview *Preview
	// Status is the capability's own sentence about this call (WithStatus).
	// May be empty.
	Status string
	// Concern is what the application's monitor has against the call. May be
	// empty.
	Concern string
	// Reason is what the caller gives as its reason: the caller's words.
	Reason string
	// Principal is who is asked, and for whom the call would run.
	Principal *Principal
	// Session says that AllowSession would be kept.
	Session bool
}

// String returns the question for a person to read, in the order that matters:
// what would be done, with what input, what that would change, what the
// application says about it, and
// last, quoted, what the caller says. Characters that a screen would obey
// rather than show are escaped.
func (q Question) String() string {
	var b strings.Builder
	b.WriteString(visible.Text(q.Title) + " (" + q.Capability + ", " + q.Effect.String() + ")\n")
	b.WriteString("Input: " + string(visible.JSON(q.Input)) + "\n")
	if q.Preview != nil {
		q.Preview.write(&b)
	}
	if q.Status != "" {
		b.WriteString(visible.Text(q.Status) + "\n")
	}
	if q.Concern != "" {
		b.WriteString("Concern: " + visible.Text(q.Concern) + "\n")
	}
	if q.Reason != "" {
		b.WriteString("The caller says: \"" + visible.Text(q.Reason) + "\"\n")
	}
	return b.String()
}
