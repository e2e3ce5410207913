package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// journal is a logger and what it wrote, a line each without its time.
func journal() (*slog.Logger, func() []string) {
	var text bytes.Buffer
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: untimed})), func() []string {
		defer text.Reset()
		return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	}
}

// readerFunc is a halt source of the form "store".
type readerFunc func(ctx context.Context) ([]ambit.Halt, error)

func (readerFunc) Form() string { return "store" }

func (f readerFunc) Read(ctx context.Context) ([]ambit.Halt, error) { return f(ctx) }

// What is no halt of anything is told to the operator.
func TestT23_HaltsThatStopNobody(t *testing.T) {
	t.Parallel()
	logger, said := journal()
	app := newApp(ambit.Options{Logger: logger}, ambit.Define(echoSpec(), echo))
	if err := app.Freeze(); err != nil {
		t.Fatal(err)
	}
	app.Halt("process",
		ambit.Halt{Kind: ambit.HaltCapability, Of: "echo"}, ambit.Halt{Kind: ambit.HaltPrincipal, Of: alice.Key()},
		ambit.Halt{Kind: ambit.HaltCapability, Of: "ecko"}, ambit.Halt{Kind: ambit.HaltPrincipal, Of: "alice"},
	)
	want := []string{
		`level=WARN msg="halt switch" form=process stops="[capability echo principal 0:/4:test/alice capability ecko principal alice]"`,
		`level=WARN msg="a halt names a capability that the application does not have" form=process capability=ecko`,
		`level=WARN msg="a halt names a principal by what is no key of one: see Principal.Key" form=process principal=alice`,
	}
	if diff := cmp.Diff(want, said()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// A trouble with a source is told when it begins, when it becomes another and
// when it ends, however often the source is read.
func TestT23_TroubleIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, said := journal()
		var read readerFunc
		app := newApp(ambit.Options{Logger: logger, HaltSources: []ambit.HaltSource{readerFunc(func(ctx context.Context) ([]ambit.Halt, error) {
			return read(ctx)
		})}})
		misread := func(line string) readerFunc {
			return func(context.Context) ([]ambit.Halt, error) {
				_, err := ambit.ParseHalt(line)
				return []ambit.Halt{{Kind: ambit.HaltAgents}}, &ambit.MisreadHalts{Faults: []error{err}}
			}
		}
		fine := readerFunc(func(context.Context) ([]ambit.Halt, error) { return nil, nil })
		hasMisread := func(line string) string {
			return `level=ERROR msg="halt source has been misread and stops everything" form=store cause="ambit: \"` + line +
				`\" is no halt: use all, changes, agents, principal KEY, tenant NAME or capability NAME"`
		}
		recovered := `level=INFO msg="halt source is in order again" form=store`
		for _, step := range []struct {
			name string
			read readerFunc
			want []string // the beginning of each line
		}{
			{"it works", fine, []string{""}},
			{
				"it fails", func(context.Context) ([]ambit.Halt, error) {
					return nil, errors.New("no database at " + time.Now().String())
				},
				[]string{`level=ERROR msg="halt source cannot be read" form=store cause="no database`},
			},
			{"it fails otherwise", func(context.Context) ([]ambit.Halt, error) { panic("nil map") }, []string{""}},
			{"it works again", fine, []string{recovered}},
			{"it panics", func(context.Context) ([]ambit.Halt, error) { panic("nil map") }, []string{`level=ERROR msg="halt source cannot be read" form=store cause="panic: nil map\ngoroutine`}},
			{"it hangs", stuck{}.Read, []string{""}},
			{"it is misread", misread("agnets"), []string{hasMisread("agnets"), `level=WARN msg="halt switch" form=store stops="[agents all]"`}},
			{"it is misread otherwise", misread("al"), []string{hasMisread("al")}},
			{"it works in the end", fine, []string{recovered, `level=WARN msg="halt switch" form=store stops=[]`}},
			{"it hangs at first", stuck{}.Read, []string{`level=ERROR msg="halt source cannot be read" form=store cause="context deadline exceeded"`}},
		} {
			read = step.read
			watching, stop := context.WithTimeout(context.Background(), 3*ambit.HaltLease)
			app.Watch(watching)
			stop()
			got := said()
			for i, line := range got {
				if i < len(step.want) && strings.HasPrefix(line, step.want[i]) {
					got[i] = step.want[i]
				}
			}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("%s: log (-want +got):\n%s", step.name, diff)
			}
		}
	})
}

// The operator is told whether a source was never read or not for too long.
func TestT23_UnreadSourcesAreNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		logger, said := journal()
		write := echoSpec()
		write.Effect = ambit.Write
		s := &source{}
		s.halts.Store(&[]ambit.Halt{})
		app := newApp(ambit.Options{Logger: logger, HaltSources: []ambit.HaltSource{s}}, ambit.Define(write, echo))
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
		defer run.End()
		refused := func(want string) {
			t.Helper()
			if got := invokeEcho(ctx, run); got != ambit.CodeHalted {
				t.Errorf("want halted, got %q", got)
			}
			if got := said()[0]; !strings.Contains(got, want) {
				t.Errorf("log: want %q, got %q", want, got)
			}
		}
		refused(`cause="halt source \"store\" was never read: `)
		app.ReadHaltSources(ctx)
		if got := invokeEcho(ctx, run); got != "" {
			t.Errorf("read once: want success, got %q", got)
		}
		<-time.After(ambit.HaltLease + time.Second)
		refused(`cause="halt source \"store\" was last read 11s ago, more than 10s: `)
	})
}

// What was read earlier does not take the place of what was read later.
func TestT23_LatestReadingHolds(t *testing.T) {
	t.Parallel()
	var readings atomic.Int32
	began, held := make(chan struct{}), make(chan struct{})
	app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{readerFunc(func(context.Context) ([]ambit.Halt, error) {
		if readings.Add(1) > 1 {
			return []ambit.Halt{{Kind: ambit.HaltAgents}}, nil
		}
		close(began)
		<-held
		return nil, nil
	})}})
	done := make(chan struct{})
	go func() { app.ReadHaltSources(t.Context()); close(done) }()
	<-began
	app.ReadHaltSources(t.Context())
	close(held)
	<-done
	want := map[string][]ambit.Halt{"store": {{Kind: ambit.HaltAgents}}}
	if diff := cmp.Diff(want, app.Halts()); diff != "" {
		t.Errorf("halts (-want +got):\n%s", diff)
	}
}

// formed is a halt source of that form.
type formed string

func (f formed) Form() string { return string(f) }

func (formed) Read(context.Context) ([]ambit.Halt, error) { return nil, nil }

// A source has a form of its own, which nothing else throws.
func TestT23_FormsAreUnique(t *testing.T) {
	t.Parallel()
	for _, form := range []formed{"", "self", "process", "signal", "store"} {
		app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{formed("store"), form}})
		if err := app.Freeze(); err == nil || !strings.Contains(err.Error(), "source 1 has the form") {
			t.Errorf("%q: want it refused, got %v", form, err)
		}
	}
	app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{formed("store")}})
	for _, s := range []ambit.HaltSource{nil, formed("store"), formed(""), formed("signal")} {
		if err := app.AddHaltSource(s); err == nil {
			t.Errorf("%v: want an error", s)
		}
	}
	if err := errors.Join(app.AddHaltSource(formed("file")), app.Freeze()); err != nil {
		t.Errorf("two forms: want nil, got %v", err)
	}
}

// A frozen application takes a source, so that its calls obey it: whoever makes an
// application may have frozen it by looking at it.
func TestT23_SourceOfFrozenApplication(t *testing.T) {
	t.Parallel()
	write := echoSpec()
	write.Effect = ambit.Write
	app := newApp(ambit.Options{}, ambit.Define(write, echo))
	if err := app.Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
	defer run.End()
	if code := invokeEcho(ctx, run); code != "" {
		t.Errorf("without a source: want success, got %q", code)
	}
	s := &source{}
	s.halts.Store(&[]ambit.Halt{})
	if err := app.AddHaltSource(s); err != nil {
		t.Fatal(err)
	}
	if code := invokeEcho(ctx, run); code != ambit.CodeHalted {
		t.Errorf("before the source is read: want %q, got %q", ambit.CodeHalted, code)
	}
	app.ReadHaltSources(context.Background())
	if code := invokeEcho(ctx, run); code != "" {
		t.Errorf("read, and nothing is stopped: want success, got %q", code)
	}
	s.halts.Store(&[]ambit.Halt{{Kind: ambit.HaltAll}})
	app.ReadHaltSources(context.Background())
	if code := invokeEcho(ctx, run); code != ambit.CodeHalted {
		t.Errorf("stopped: want %q, got %q", ambit.CodeHalted, code)
	}
}
