package ambittest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

// lever is a halt source that a test moves.
type lever struct {
	halts []ambit.Halt
	stuck error // why it cannot be read
}

func (*lever) Form() string { return "lever" }

func (l *lever) Read(context.Context) ([]ambit.Halt, error) { return l.halts, l.stuck }

// What a halt source says holds from the next call, on every way in and however
// long the test takes.
func TestT23_HaltSources(t *testing.T) {
	t.Parallel()
	for _, way := range ambittest.Ways() {
		synctest.Test(t, func(t *testing.T) {
			l := &lever{}
			ann, bob := ambittest.User("ann"), ambittest.User("bob")
			h := ambittest.New(t, newDoer(ambit.Write, ambit.Options{HaltSources: []ambit.HaltSource{l}}))
			step := func(name string, who *ambit.Principal, want ambit.Code) {
				t.Helper()
				answer := h.As(who).Over(way).Call("do", "")
				if want == "" {
					answer.OK()
				} else {
					answer.Refused(want)
				}
				if t.Failed() {
					t.Errorf("%s: %s", way, name)
				}
			}
			step("nothing is stopped", ann, "")
			l.halts = []ambit.Halt{{Kind: ambit.HaltPrincipal, Of: ann.Key()}}
			step("one is stopped", ann, ambit.CodeHalted)
			step("another is not", bob, "")
			l.halts = nil
			<-time.After(2 * ambit.HaltLease)
			step("released, and long after", ann, "")
			l.stuck = errors.New("no database")
			step("it cannot be read", ann, "")
			<-time.After(2 * ambit.HaltLease)
			step("and not for long", ann, ambit.CodeHalted)
		})
	}
}

// New reads the sources for calls that do not go through the host.
func TestT23_NewReadsHaltSources(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newDoer(ambit.Write, ambit.Options{HaltSources: []ambit.HaltSource{&lever{}}}))
	ctx, run := h.App().NewRun(t.Context(), ambit.RunOptions{Principal: ambittest.User("ann")})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "do"}); err != nil {
		t.Errorf("want success, got %v", err)
	}
}
