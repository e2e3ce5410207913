package ambit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// A question that is open for three hours, and what happens in the meantime.
func TestLongQuestion(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		meantime  func(s *longQuestion)
		want      ambit.Code
		principal ambit.Principal
	}{
		{"nothing", func(*longQuestion) {}, "", ambit.Principal{}},
		{"permission revoked", func(s *longQuestion) { s.permissions = nil }, ambit.CodeForbidden, ambit.Principal{}},
		{"principal gone", func(s *longQuestion) { s.gone = true }, ambit.CodeUnauthenticated, ambit.Principal{}},
		{"token expired", func(*longQuestion) {}, ambit.CodeUnauthenticated, ambit.Principal{Expires: time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC)}},
		{"rule over the input", func(s *longQuestion) { s.locked = true }, ambit.CodeConflict, ambit.Principal{}},
		{"plan mode", func(s *longQuestion) { s.run.SetMode(ambit.ModePlan) }, ambit.CodeBlockedInPlanMode, ambit.Principal{}},
		{"halt", func(s *longQuestion) {
			s.app.Halt("process", ambit.Halt{Kind: ambit.HaltCapability, Of: "echo"})
		}, ambit.CodeHalted, ambit.Principal{}},
		{"run ended", func(s *longQuestion) { s.run.End() }, ambit.CodeCanceled, ambit.Principal{}},
		{"caller gone", func(s *longQuestion) { s.cancel() }, ambit.CodeCanceled, ambit.Principal{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &longQuestion{permissions: []string{"echo"}, answer: make(chan ambit.Answer)}
				spec := echoSpec()
				spec.Effect, spec.Deadline = ambit.Write, time.Minute
				inner := ambit.NewContract[echoInput, echoOutput](spec)
				outerSpec := spec
				outerSpec.Name = "outer"
				app := newApp(ambit.Options{Resolve: s.resolve},
					inner.Bind(echo).WithAuthorizeInput(s.authorize),
					ambit.Define(outerSpec, func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
						_, s.err = inner.Call(ctx, echoInput{Text: "a"}, ambit.WithMode(ambit.ModeDefault))
						return ambit.Empty{}, ctx.Err()
					}))
				s.app = app
				parent, cancel := context.WithCancel(context.Background())
				s.cancel = cancel
				defer cancel()
				p := test.principal
				p.Subject, p.Permissions = "alice", s.permissions
				var ctx context.Context
				ctx, s.run = app.NewRun(parent, ambit.RunOptions{Principal: &p, Prompter: s, Budget: ambit.Budget{Wall: time.Hour}})
				defer s.run.End()
				done := make(chan error)
				go func() { _, err := s.run.Invoke(ctx, ambit.Request{Name: "outer"}); done <- err }()
				synctest.Wait()
				<-time.After(3 * time.Hour)
				test.meantime(s)
				synctest.Wait()
				select {
				case s.answer <- ambit.Allow:
				default: // nobody waits any more
				}
				outer := <-done
				if got := ambit.CodeOf(s.err); got != test.want {
					t.Errorf("inner call: want %q, got %q (%v)", test.want, got, s.err)
				}
				if test.want != ambit.CodeCanceled && outer != nil {
					t.Errorf("the outer call's minute did not stand still: %v", outer)
				}
			})
		})
	}
}

type longQuestion struct {
	app          *ambit.App
	permissions  []string
	gone, locked bool
	answer       chan ambit.Answer
	run          *ambit.Run
	cancel       func()
	err          error
}

func (s *longQuestion) resolve(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
	if s.gone {
		return nil, nil
	}
	p.Permissions = s.permissions
	return p, nil
}

func (s *longQuestion) authorize(context.Context, echoInput) error {
	if s.locked {
		return ambit.Errorf(ambit.CodeConflict, "Locked.")
	}
	return nil
}

func (s *longQuestion) Ask(ctx context.Context, _ ambit.Question) (ambit.Answer, error) {
	select {
	case a := <-s.answer:
		return a, nil
	case <-ctx.Done():
		return ambit.Deny, ctx.Err()
	}
}
