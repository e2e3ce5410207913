package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
	storage "github.com/ambit-dev/ambit/store/memory"
)

// Rates that instances share hold for all of them together.
func TestT25_SharedRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := storage.New()
		spec := echoSpec()
		spec.Name, spec.Rate = "seldom", aMinute(1, 1)
		var instances []*ambit.App
		for range 2 {
			instances = append(instances, newApp(ambit.Options{Limits: ambit.Limits{Rate: aMinute(6, 3), Shared: store}},
				ambit.Define(echoSpec(), echo), ambit.Define(spec, echo)))
		}
		for i, step := range []struct {
			instance int
			who      *ambit.Principal
			name     string
			want     ambit.Code
		}{
			{0, alice, "seldom", ""},
			{1, alice, "seldom", ambit.CodeRateLimited}, // which counts as a call
			{1, alice, "echo", ""},
			{0, alice, "echo", ambit.CodeRateLimited},
			{0, bob, "echo", ""},
		} {
			e := attempt(t, instances[step.instance], step.who, ambit.HTTP, step.name)
			switch {
			case step.want == "" && e != nil, step.want != "" && (e == nil || e.Code != step.want || e.RetryAfter <= 0):
				t.Errorf("call %d: want %q, got %v", i, step.want, e)
			}
		}
	})
}

// failing are shared rates that fail.
type failing struct {
	asked int
	take  func(context.Context) (time.Duration, error)
}

func (f *failing) Take(ctx context.Context, _ string, _ ambit.Rate) (time.Duration, error) {
	f.asked++
	return f.take(ctx)
}

// Shared rates that fail leave each instance its own, keep nobody waiting for
// long, and fill no log.
func TestT25_SharedRatesThatFail(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(context.Context) (time.Duration, error){
		"an error": func(context.Context) (time.Duration, error) { return 0, errors.New("no connection to db.internal") },
		"a panic":  func(context.Context) (time.Duration, error) { panic("oh") },
		"no answer": func(ctx context.Context) (time.Duration, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			shared := &failing{take: take}
			app := newApp(ambit.Options{
				Limits: ambit.Limits{Rate: aMinute(60, 3), Shared: shared}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			}, ambit.Define(echoSpec(), echo))
			began := time.Now()
			for i, want := range []bool{true, true, true, false} { // the instance's own rate
				if e := attempt(t, app, alice, ambit.HTTP, "echo"); (e == nil) != want {
					t.Errorf("%s, call %d: want allowed %v, got %v", name, i, want, e)
				}
			}
			if waited := time.Since(began); waited > time.Second {
				t.Errorf("%s: want callers kept for no more than a second, got %v", name, waited)
			}
			for range 3 {
				<-time.After(25 * time.Second)
				attempt(t, app, alice, ambit.HTTP, "echo")
			}
			if got := strings.Count(log.String(), "shared rates failed"); got != 2 || shared.asked != 4 {
				t.Errorf("%s: want it asked 4 times and 2 lines within 75 seconds, got %d and %d:\n%s", name, shared.asked, got, &log)
			}
		})
	}
}
