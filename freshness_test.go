package ambit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// A run ends with the credential that it began with, whatever the application
// knows of its owner, and earlier where that is known to end earlier.
func TestT03_ExpiryOutlivesResolving(t *testing.T) {
	t.Parallel()
	const credential = 2 * time.Minute
	for _, test := range []struct {
		name     string
		resolved time.Duration // after which the resolved principal expires; zero: never
		want     time.Duration // after which the run ends
	}{
		{"never, as users of a table do", 0, credential},
		{"later than the credential", time.Hour, credential},
		{"earlier", time.Minute, time.Minute},
		{"before it was resolved", time.Second, ambit.Freshness + time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				app := newApp(ambit.Options{Resolve: func(context.Context, *ambit.Principal) (*ambit.Principal, error) {
					p := *alice
					if test.resolved > 0 {
						p.Expires = began.Add(test.resolved)
					}
					return &p, nil
				}}, ambit.Define(echoSpec(), echo))
				p := *alice
				p.Expires = began.Add(credential)
				ctx, run := begin(t, app, &p, ambit.HTTP)
				var got time.Duration
				for code := invokeEcho(ctx, run); code != ambit.CodeUnauthenticated; code = invokeEcho(ctx, run) {
					if code != "" || time.Since(began) > credential {
						t.Fatalf("after %v: want success until the end, got %q", time.Since(began), code)
					}
					<-time.After(time.Second)
				}
				if got = time.Since(began); got != test.want {
					t.Errorf("want an end after %v, got %v", test.want, got)
				}
			})
		})
	}
}

// What goes wrong before it is decided whether a caller may know of a capability
// says nothing of it, not even that it has an effect.
func TestT07_FailuresBeforeAdmitHideNames(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]ambit.Options{
		"the credential has expired": {},
		"the principal is gone": {Resolve: func(context.Context, *ambit.Principal) (*ambit.Principal, error) {
			return nil, nil
		}},
		"the resolver fails": {Resolve: func(context.Context, *ambit.Principal) (*ambit.Principal, error) {
			return nil, errors.New("no database")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				spec := echoSpec()
				spec.Effect, spec.Expose = ambit.Write, ambit.HTTP
				app := newApp(options, ambit.Define(spec, echo))
				p := *alice
				if options.Resolve == nil {
					p.Expires = time.Now().Add(time.Minute)
				}
				ctx, run := begin(t, app, &p, ambit.MCP)
				<-time.After(time.Minute)
				answer := func(name string) string {
					_, err := run.Invoke(ctx, ambit.Request{Name: name})
					text, marshalErr := json.Marshal(failure(t, err))
					if marshalErr != nil {
						t.Fatal(marshalErr)
					}
					return strings.ReplaceAll(string(text), name, "NAME")
				}
				want := answer("ecxo")
				if strings.Contains(want, string(ambit.CodeNotFound)) {
					t.Fatalf("want a failure before the name is looked at, got %s", want)
				}
				if diff := cmp.Diff(want, answer("echo")); diff != "" {
					t.Errorf("(-unknown +not exposed):\n%s", diff)
				}
			})
		})
	}
}

// Somebody's word from earlier in the session is as good as the caller is now:
// the principal is resolved again before a call runs by it.
func TestT03_GrantIsJudgedAfresh(t *testing.T) {
	t.Parallel()
	permissions := []string{"echo"}
	write := echoSpec()
	write.Effect = ambit.Write
	app := newApp(ambit.Options{Resolve: func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
		p.Permissions = permissions
		return p, nil
	}}, ambit.Define(write, echo))
	asked := 0
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: alice, Mode: ambit.ModeDefault,
		Prompter: ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) {
			asked++
			return ambit.AllowSession, nil
		}),
	})
	defer run.End()
	for _, step := range []struct {
		name        string
		permissions []string
		want        ambit.Code
	}{
		{"asked", []string{"echo"}, ""},
		{"granted", []string{"echo"}, ""},
		{"granted, but the permission is gone", nil, ambit.CodeForbidden},
	} {
		permissions = step.permissions
		if got := invokeEcho(ctx, run); got != step.want || asked != 1 {
			t.Errorf("%s: want %q after one question, got %q after %d", step.name, step.want, got, asked)
		}
	}
}

// What a resolver answers is as old as the question: one that was under way when
// a wait ended does not count as asked after it. And who goes away does not wait
// for a resolver that somebody else has asked.
func TestT03_ResolvingUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, make(chan struct{})
		write := echoSpec()
		write.Effect = ambit.Write
		permissions := []string{"echo"}
		app := newApp(ambit.Options{Resolve: func(_ context.Context, p *ambit.Principal) (*ambit.Principal, error) {
			asked++
			p.Permissions = permissions
			if asked == 1 {
				<-answer
			}
			return p, nil
		}}, ambit.Define(write, echo))
		said := make(chan ambit.Answer)
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{
			Principal: alice, Mode: ambit.ModeDefault,
			Prompter: ambit.PrompterFunc(func(context.Context, ambit.Question) (ambit.Answer, error) { return <-said, nil }),
		})
		defer run.End()
		codes := make(chan ambit.Code)
		call := func(ctx context.Context) {
			go func() { codes <- invokeEcho(ctx, run) }()
			synctest.Wait()
		}
		call(ctx) // waits for a person
		<-time.After(time.Minute)
		call(ctx) // waits for the resolver, because the principal is old
		gone, cancel := context.WithCancel(ctx)
		call(gone)
		cancel()
		if got := <-codes; got != ambit.CodeCanceled {
			t.Errorf("who went away: want canceled, got %q", got)
		}
		permissions = nil
		<-time.After(time.Second)
		said <- ambit.Allow
		synctest.Wait()
		close(answer)
		if got := <-codes; got != ambit.CodeForbidden {
			t.Errorf("the permission was taken away before the answer: want forbidden, got %q", got)
		}
		said <- ambit.Deny
		if got := <-codes; got != ambit.CodeDeclined {
			t.Errorf("the other call: want declined, got %q", got)
		}
	})
}
