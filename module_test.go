package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ambit-dev/ambit"
)

// lazy is a module of two capabilities that counts its loads.
type lazy struct {
	one, two *ambit.Contract[echoInput, echoOutput]
	loads    int
	load     func() ([]ambit.AnyCapability, error)
}

func newLazy(permission string) *lazy {
	spec := func(name string) ambit.Spec {
		s := echoSpec()
		s.Name, s.Permission = name, permission
		return s
	}
	l := &lazy{one: ambit.NewContract[echoInput, echoOutput](spec("lazy.one")), two: ambit.NewContract[echoInput, echoOutput](spec("lazy.two"))}
	l.load = func() ([]ambit.AnyCapability, error) {
		return []ambit.AnyCapability{l.two.Bind(echo), l.one.Bind(echo)}, nil
	}
	return l
}

func (l *lazy) app(o ambit.Options) *ambit.App {
	app := newApp(o)
	app.AddModule(ambit.Module{
		Name: "lazy", Contracts: []ambit.AnyContract{l.one, l.two},
		Load: func(context.Context) ([]ambit.AnyCapability, error) { l.loads++; return l.load() },
	})
	return app
}

// Nothing loads a module but a call that has the right to run, and that once.
func TestModuleLoadsOnFirstUse(t *testing.T) {
	t.Parallel()
	l := newLazy("echo")
	app := l.app(ambit.Options{})
	ctx, run := begin(t, app, alice, ambit.HTTP)
	strangerCtx, stranger := begin(t, app, &ambit.Principal{Subject: "bob"}, ambit.HTTP)
	if names, err := list(ctx, app, run, 10); err != nil || len(names) != 2 {
		t.Errorf("want both listed, got %v, %v", names, err)
	}
	if _, err := stranger.Invoke(strangerCtx, ambit.Request{Name: "lazy.one", Input: []byte(`{"text":"a"}`)}); ambit.CodeOf(err) != ambit.CodeForbidden {
		t.Errorf("stranger: want forbidden, got %v", err)
	}
	if l.loads != 0 {
		t.Fatalf("loaded %d times by listing and refusing", l.loads)
	}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			name := []string{"lazy.one", "lazy.two"}[i%2]
			if _, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if out, err := l.two.Call(ctx, echoInput{Text: "b"}); err != nil || out.Text != "b" {
		t.Errorf("typed: want b, got %q, %v", out.Text, err)
	}
	if l.loads != 1 {
		t.Errorf("want one load, got %d", l.loads)
	}
}

func TestModuleLoadIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() ([]ambit.AnyCapability, error){
		"error": func() ([]ambit.AnyCapability, error) { return nil, errors.New("no such file") },
		"panic": func() ([]ambit.AnyCapability, error) { panic("oh") },
	} {
		l := newLazy("echo")
		good := l.load
		l.load = fail
		app := l.app(ambit.Options{})
		ctx, _ := begin(t, app, alice, ambit.InProcess)
		for range 2 {
			if _, err := l.one.Call(ctx, echoInput{Text: "a"}); ambit.CodeOf(err) != ambit.CodeUnavailable {
				t.Errorf("%s: want unavailable, got %v", name, err)
			}
		}
		l.load = good
		if _, err := l.one.Call(ctx, echoInput{Text: "a"}); err != nil || l.loads != 3 {
			t.Errorf("%s: want success at the third load, got %v at %d", name, err, l.loads)
		}
	}
}

// What is declared and what is loaded are the same, or nothing runs.
func TestModuleDrift(t *testing.T) {
	t.Parallel()
	stray := echoSpec()
	stray.Name = "lazy.stray"
	var got strings.Builder
	for _, test := range []struct {
		name string
		load func(l *lazy) []ambit.AnyCapability
	}{
		{"fits", func(l *lazy) []ambit.AnyCapability { return []ambit.AnyCapability{l.one.Bind(echo), l.two.Bind(echo)} }},
		{"one is missing", func(l *lazy) []ambit.AnyCapability { return []ambit.AnyCapability{l.one.Bind(echo)} }},
		{"one too many", func(l *lazy) []ambit.AnyCapability {
			return []ambit.AnyCapability{l.one.Bind(echo), l.two.Bind(echo), ambit.Define(stray, echo)}
		}},
		{"twice", func(l *lazy) []ambit.AnyCapability {
			return []ambit.AnyCapability{l.one.Bind(echo), l.two.Bind(echo), l.one.Bind(echo)}
		}},
		{"another contract", func(l *lazy) []ambit.AnyCapability {
			return []ambit.AnyCapability{l.one.Bind(echo), ambit.Define(l.two.Spec(), echo)}
		}},
		{"no handler", func(l *lazy) []ambit.AnyCapability { return []ambit.AnyCapability{l.one.Bind(echo), l.two.Bind(nil)} }},
		{"nil", func(l *lazy) []ambit.AnyCapability { return []ambit.AnyCapability{l.one.Bind(echo), nil} }},
	} {
		l := newLazy("echo")
		l.load = func() ([]ambit.AnyCapability, error) { return test.load(l), nil }
		app := l.app(ambit.Options{})
		err := app.LoadModules(t.Context())
		fmt.Fprintf(&got, "%s\n\t%v\n", test.name, err)
		ctx, _ := begin(t, app, alice, ambit.InProcess)
		if _, callErr := l.one.Call(ctx, echoInput{Text: "a"}); (callErr == nil) != (err == nil) {
			t.Errorf("%s: LoadModules says %v, a call %v", test.name, err, callErr)
		}
	}
	golden(t, "module_drift.txt", got.String())
}

func TestAddModuleRefuses(t *testing.T) {
	t.Parallel()
	load := func(context.Context) ([]ambit.AnyCapability, error) { return nil, nil }
	contract := func(name string) ambit.AnyContract {
		spec := echoSpec()
		spec.Name = name
		return ambit.NewContract[echoInput, echoOutput](spec)
	}
	ok := ambit.Module{Name: "m", Contracts: []ambit.AnyContract{contract("a")}, Load: load}
	var got strings.Builder
	for _, test := range []struct {
		name    string
		modules []ambit.Module
	}{
		{"no name", []ambit.Module{{Contracts: ok.Contracts, Load: load}}},
		{"no contracts", []ambit.Module{{Name: "m", Load: load}}},
		{"no loader", []ambit.Module{{Name: "m", Contracts: ok.Contracts}}},
		{"nil contract", []ambit.Module{{Name: "m", Contracts: []ambit.AnyContract{nil}, Load: load}}},
		{"invalid contract", []ambit.Module{{Name: "m", Contracts: []ambit.AnyContract{contract("A")}, Load: load}}},
		{"twice", []ambit.Module{ok, ok}},
		{"a name in use", []ambit.Module{ok, {Name: "n", Contracts: ok.Contracts, Load: load}}},
	} {
		fmt.Fprintf(&got, "%s\n\t%s\n", test.name, panicText(func() { newApp(ambit.Options{}).AddModule(test.modules...) }))
	}
	golden(t, "add_module_refuses.txt", got.String())
}

// Load gets the context of the call that caused it, and a caller who goes away
// does not wait for another's load.
func TestModuleLoadFollowsItsCall(t *testing.T) {
	t.Parallel()
	l := newLazy("echo")
	entered, release := make(chan struct{}), make(chan struct{})
	good := l.load
	l.load = func() ([]ambit.AnyCapability, error) { close(entered); <-release; return good() }
	app := l.app(ambit.Options{})
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	first := make(chan error)
	go func() { _, err := l.one.Call(ctx, echoInput{Text: "a"}); first <- err }()
	<-entered
	gone, cancel := context.WithCancel(ctx)
	second := make(chan error)
	go func() { _, err := l.two.Call(gone, echoInput{Text: "a"}); second <- err }()
	cancel()
	if err := <-second; ambit.CodeOf(err) != ambit.CodeCanceled {
		t.Errorf("the caller who went away: want canceled, got %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the caller who loads: %v", err)
	}
}
