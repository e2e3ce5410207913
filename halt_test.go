package ambit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

func TestParseHalt(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"all", "changes", "agents", "tenant acme", "tenant ", "capability notes.purge",
		"principal 0:/4:test/alice", "principal 0:/0:/", "principal " + (&ambit.Principal{Tenant: "a/b 7:", Authority: "https://é.example/", Subject: "x y"}).Key(),
	} {
		h, err := ambit.ParseHalt(line)
		if err != nil || h.String() != line {
			t.Errorf("%q: read as %q, %v", line, h, err)
		}
	}
	for _, line := range []string{
		"", " ", "everything", "all of it", "capability", "capability ", "Agents",
		"principal", "principal alice", "principal 0:/4:test/", "principal 0:/5:test/alice", "principal 0:/3:test/alice",
		"principal 00:/4:test/alice", "principal +0:/4:test/alice", "principal -1:/4:test/alice", "principal 0:/99:test/alice", "principal 4:test/alice",
	} {
		if h, err := ambit.ParseHalt(line); err == nil {
			t.Errorf("%q: want an error, got %q", line, h)
		}
	}
	if h, err := ambit.ParseHalt("tenant"); err != nil || h.Of != "" {
		t.Errorf("the empty tenant: got %q, %v", h, err)
	}
}

func FuzzParseHalt(f *testing.F) {
	for _, line := range []string{"all", "tenant", "capability a.b", "principal 4:acme/6:apikey/robot", "principal 1:/0:/"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, err := ambit.ParseHalt(line)
		if err != nil {
			return
		}
		if again, err := ambit.ParseHalt(h.String()); err != nil || again != h {
			t.Errorf("%q: want it read as %#v again, got %#v, %v", line, h, again, err)
		}
	})
}

// What each kind of halt stops.
func TestT23_HaltKinds(t *testing.T) {
	t.Parallel()
	read, write := echoSpec(), echoSpec()
	read.Name, write.Name, write.Effect = "read", "write", ambit.Write
	people := &ambit.Principal{Subject: "p", Tenant: "acme", Permissions: []string{"echo"}}
	agent := &ambit.Principal{Subject: "a", Kind: ambit.KindAgent, Permissions: []string{"echo"}}
	for _, test := range []struct {
		halt string
		want map[string]bool // what is still answered
	}{
		{"all", map[string]bool{}},
		{"changes", map[string]bool{"read http p": true, "read mcp p": true, "read http a": true}},
		{"agents", map[string]bool{"read http p": true, "write http p": true}},
		{"principal " + people.Key(), map[string]bool{"read http a": true, "write http a": true}},
		{"tenant acme", map[string]bool{"read http a": true, "write http a": true}},
		{"tenant", map[string]bool{"read http p": true, "write http p": true, "read mcp p": true, "write mcp p": true}},
		{"capability write", map[string]bool{"read http p": true, "read mcp p": true, "read http a": true}},
	} {
		app := newApp(ambit.Options{}, ambit.Define(read, echo), ambit.Define(write, echo))
		h, err := ambit.ParseHalt(test.halt)
		if err != nil {
			t.Fatal(err)
		}
		app.Halt("process", h)
		got := map[string]bool{}
		for _, by := range []struct {
			surface ambit.Surface
			who     *ambit.Principal
		}{{ambit.HTTP, people}, {ambit.MCP, people}, {ambit.HTTP, agent}} {
			for _, name := range []string{"read", "write"} {
				ctx, run := begin(t, app, by.who, by.surface)
				_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`)})
				switch code := ambit.CodeOf(err); code {
				case "":
					got[name+" "+by.surface.String()+" "+by.who.Subject] = true
				case ambit.CodeHalted:
				default:
					t.Errorf("%s: %s by %s: want halted or an answer, got %q", test.halt, name, by.who.Subject, code)
				}
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.halt, diff)
		}
	}
}

// A halt does not tell which names exist.
func TestT07_HaltedUnknownIsUnknown(t *testing.T) {
	t.Parallel()
	hidden := echoSpec()
	hidden.Name, hidden.Expose = "hidden", 0
	app := newApp(ambit.Options{}, ambit.Define(hidden, echo))
	app.Halt("process", ambit.Halt{Kind: ambit.HaltAll})
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, name := range []string{"hidden", "nothing"} {
		if _, err := run.Invoke(ctx, ambit.Request{Name: name}); ambit.CodeOf(err) != ambit.CodeNotFound {
			t.Errorf("%s: want not_found, got %v", name, err)
		}
	}
}

// Forms unite, and each is released by itself.
func TestT23_FormsUnite(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
	answer := func() ambit.Code {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
		defer run.End()
		return invokeEcho(ctx, run)
	}
	all := ambit.Halt{Kind: ambit.HaltAll}
	for _, step := range []struct {
		name string
		do   func()
		want ambit.Code
	}{
		{"nothing", func() {}, ""},
		{"two forms", func() { app.Halt("signal", all); app.Halt("file", all) }, ambit.CodeHalted},
		{"one resumed", func() { app.Resume("file") }, ambit.CodeHalted},
		{"another that is none", func() { app.Resume("store") }, ambit.CodeHalted},
		{"both resumed", func() { app.Resume("signal") }, ""},
	} {
		step.do()
		if got := answer(); got != step.want {
			t.Errorf("%s: want %q, got %q (%v)", step.name, step.want, got, app.Halts())
		}
	}
}

// Calls under way are canceled, in the handler and while a person is asked.
func TestT23_CallsUnderWayEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		write := echoSpec()
		write.Effect = ambit.Write
		app := newApp(ambit.Options{}, ambit.Define(write, func(ctx context.Context, _ echoInput) (echoOutput, error) {
			<-ctx.Done()
			return echoOutput{}, ctx.Err()
		}))
		codes := make(chan ambit.Code)
		begin := func(o ambit.RunOptions) {
			o.Principal = alice
			ctx, run := app.NewRun(context.Background(), o)
			go func() { defer run.End(); codes <- invokeEcho(ctx, run) }()
			synctest.Wait()
		}
		begin(ambit.RunOptions{})
		app.Halt("process", ambit.Halt{Kind: ambit.HaltChanges})
		if got := <-codes; got != ambit.CodeCanceled {
			t.Errorf("in the handler: want canceled, got %q", got)
		}
		app.Resume("process")
		begin(ambit.RunOptions{Mode: ambit.ModeDefault, Prompter: ambit.PrompterFunc(func(ctx context.Context, _ ambit.Question) (ambit.Answer, error) {
			<-ctx.Done()
			return ambit.Deny, ctx.Err()
		})})
		app.Halt("process", ambit.Halt{Kind: ambit.HaltPrincipal, Of: alice.Key()})
		if got := <-codes; got != ambit.CodeHalted {
			t.Errorf("while a person is asked: want halted, got %q", got)
		}
	})
}

// source is a halt source that can be steered.
type source struct {
	halts atomic.Pointer[[]ambit.Halt] // nil: it cannot be read
}

func (*source) Form() string { return "store" }

func (s *source) Read(context.Context) ([]ambit.Halt, error) {
	if h := s.halts.Load(); h != nil {
		return *h, nil
	}
	return nil, errors.New("no database")
}

// A source that was never read, or not for 10 s, lets reads alone run.
func TestT23_Lease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read, write := echoSpec(), echoSpec()
		read.Name, write.Name, write.Effect = "read", "write", ambit.Write
		s := &source{}
		app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{s}}, ambit.Define(read, echo), ambit.Define(write, echo))
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
		defer run.End()
		step := func(name string, wantRead, wantWrite ambit.Code) {
			t.Helper()
			for call, want := range map[string]ambit.Code{"read": wantRead, "write": wantWrite} {
				_, err := run.Invoke(ctx, ambit.Request{Name: call, Input: []byte(`{"text":"a"}`)})
				if got := ambit.CodeOf(err); got != want {
					t.Errorf("%s: %s: want %q, got %q", name, call, want, got)
				}
			}
		}
		step("nobody watches", "", ambit.CodeHalted)
		watching, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { app.Watch(watching); close(done) }()
		synctest.Wait()
		step("never read", "", ambit.CodeHalted)
		s.halts.Store(&[]ambit.Halt{})
		<-time.After(time.Second)
		step("read", "", "")
		s.halts.Store(&[]ambit.Halt{{Kind: ambit.HaltAll}})
		<-time.After(time.Second)
		step("halted within a second", ambit.CodeHalted, ambit.CodeHalted)
		s.halts.Store(&[]ambit.Halt{})
		<-time.After(time.Second)
		step("resumed", "", "")
		s.halts.Store(nil)
		<-time.After(ambit.HaltLease - time.Second)
		step("within the lease", "", "")
		<-time.After(2 * time.Second)
		step("after the lease", "", ambit.CodeHalted)
		stop()
		<-done
	})
}

// stuck is a source whose reading takes as long as it may.
type stuck struct{}

func (stuck) Form() string { return "stuck" }

func (stuck) Read(ctx context.Context) ([]ambit.Halt, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// What is read before serving holds from the first call, and a source that does
// not answer holds up no other.
func TestT23_SourcesAreReadApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &source{}
		s.halts.Store(&[]ambit.Halt{})
		write := echoSpec()
		write.Effect = ambit.Write
		app := newApp(ambit.Options{HaltSources: []ambit.HaltSource{s}}, ambit.Define(write, echo))
		app.ReadHaltSources(context.Background())
		ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: alice})
		defer run.End()
		if code := invokeEcho(ctx, run); code != "" {
			t.Errorf("read once: want success, got %q", code)
		}
		slow := newApp(ambit.Options{HaltSources: []ambit.HaltSource{stuck{}}}, ambit.Define(write, echo))
		if err := slow.AddHaltSource(s); err != nil {
			t.Fatal(err)
		}
		watching, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { slow.Watch(watching); close(done) }()
		<-time.After(time.Second)
		s.halts.Store(&[]ambit.Halt{{Kind: ambit.HaltAgents}})
		<-time.After(time.Second)
		want := map[string][]ambit.Halt{"store": {{Kind: ambit.HaltAgents}}}
		if diff := cmp.Diff(want, slow.Halts()); diff != "" {
			t.Errorf("halts beside a stuck source (-want +got):\n%s", diff)
		}
		stop()
		<-done
		if err := slow.AddHaltSource(formed("late")); err == nil {
			t.Error("an application whose sources are read took another, which nobody would read")
		}
	})
}

func TestHaltFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "halt")
	s := ambit.HaltFile(path)
	all := []ambit.Halt{{Kind: ambit.HaltAll}}
	agents := []ambit.Halt{{Kind: ambit.HaltAgents}, {Kind: ambit.HaltTenant, Of: "acme"}}
	const cure = ": use all, changes, agents, principal KEY, tenant NAME or capability NAME"
	for _, test := range []struct {
		name, text string
		want       []ambit.Halt
		misread    string
	}{
		{"empty", "", all, ""},
		{"comments only", "# why\n\n", all, ""},
		{"agents and a tenant", "# an outage\nagents\n\n  # of theirs\ntenant acme\n", agents, ""},
		{"a line that is none", "# why\nagnets\n", all, `line 2: ambit: "agnets" is no halt` + cure},
		{"a line that is none beside all", "all\nagnets\n", all, `line 2: ambit: "agnets" is no halt` + cure},
		{
			"lines that are none among others", "agents\nall!\ntenant acme\nprincipal alice", append(agents, all...),
			`line 2: ambit: "all!" is no halt` + cure + `; line 4: ambit: "alice" is no key of a principal: ` +
				`one has the form LEN:TENANT/LEN:AUTHORITY/SUBJECT, such as 0:/5:stdio/editor`,
		},
		{
			"what is no halt file at all", strings.Repeat(strings.Repeat("\x00", 1000)+"\n", 7), all,
			func() (text string) {
				for n := range 5 {
					text += fmt.Sprintf(`line %d: ambit: "%s" is no halt%s; `, n+1, strings.Repeat(`\x00`, 100), cure)
				}
				return text + "and 2 more"
			}(),
		},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.Read(t.Context())
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
		misread := ""
		if m, ok := errors.AsType[*ambit.MisreadHalts](err); ok {
			misread = m.Error()
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.misread, misread); diff != "" {
			t.Errorf("%s: what was misread (-want +got):\n%s", test.name, diff)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("no file: want nothing, got %v, %v", got, err)
	}
	for name, path := range map[string]string{"a folder": t.TempDir(), "no folder": filepath.Join(t.TempDir(), "gone", "halt")} {
		if got, err := ambit.HaltFile(path).Read(t.Context()); err == nil {
			t.Errorf("%s: want an error, got %v", name, got)
		}
	}
}

// A capability that keeps breaking its contract halts itself and nothing else.
func TestT23_HaltsItself(t *testing.T) {
	t.Parallel()
	broken := true
	bad, good := echoSpec(), echoSpec()
	bad.Name = "bad"
	app := newApp(ambit.Options{HaltAfter: 3}, ambit.Define(good, echo), ambit.Define(bad, func(_ context.Context, in echoInput) (echoOutput, error) {
		if broken {
			return echoOutput{Text: string(make([]byte, 300))}, nil
		}
		return echoOutput{}, nil
	}))
	ctx, run := begin(t, app, alice, ambit.InProcess)
	call := func(name string, want ambit.Code) {
		t.Helper()
		_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`)})
		if got := ambit.CodeOf(err); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
	call("bad", ambit.CodeInvalidOutput)
	call("bad", ambit.CodeInvalidOutput)
	broken = false
	call("bad", "")
	broken = true
	for range 3 {
		call("bad", ambit.CodeInvalidOutput)
	}
	call("bad", ambit.CodeHalted)
	call("echo", "")
	broken = false
	app.Resume("self")
	call("bad", "")
}

// What a run brings along by itself breaks its own contract alone: its name is
// not one that others know, and may be that of another run's.
func TestT23_OwnCapabilitiesHaltNoOthers(t *testing.T) {
	t.Parallel()
	page := echoSpec()
	page.Name = "page.read"
	app := newApp(ambit.Options{HaltAfter: 2})
	call := func(who *ambit.Principal, text string, want ambit.Code) {
		t.Helper()
		own := ambit.Define(page, func(context.Context, ambit.Empty) (echoOutput, error) { return echoOutput{Text: text}, nil })
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: who, Surface: ambit.HTTP, Capabilities: []ambit.AnyCapability{own}})
		defer run.End()
		for range 3 {
			if _, err := run.Invoke(ctx, ambit.Request{Name: "page.read"}); ambit.CodeOf(err) != want {
				t.Errorf("%s: want %q, got %v", who.Subject, want, err)
			}
		}
	}
	call(bob, strings.Repeat("x", 300), ambit.CodeInvalidOutput)
	call(alice, "fine", "")
	if got := app.Halts(); len(got) > 0 {
		t.Errorf("want no halt, got %v", got)
	}
}

// A halt reaches what a caller has set going, however many times it was handed
// on to another principal, and after the caller's own call has ended.
func TestT23_HaltReachesThroughDelegation(t *testing.T) {
	t.Parallel()
	permissions := []string{"echo"}
	robot := &ambit.Principal{Subject: "robot", Tenant: "acme", Kind: ambit.KindAgent, Permissions: permissions, Unscoped: true}
	second := &ambit.Principal{Subject: "second", Permissions: permissions, Unscoped: true}
	third := &ambit.Principal{Subject: "third", Permissions: permissions, Unscoped: true}
	for _, test := range []struct {
		halt ambit.Halt
		want ambit.Code
	}{
		{ambit.Halt{Kind: ambit.HaltAgents}, ambit.CodeHalted},
		{ambit.Halt{Kind: ambit.HaltTenant, Of: "acme"}, ambit.CodeHalted},
		{ambit.Halt{Kind: ambit.HaltPrincipal, Of: robot.Key()}, ambit.CodeHalted},
		{ambit.Halt{Kind: ambit.HaltPrincipal, Of: second.Key()}, ambit.CodeHalted},
		{ambit.Halt{Kind: ambit.HaltPrincipal, Of: third.Key()}, ambit.CodeHalted},
		{ambit.Halt{Kind: ambit.HaltPrincipal, Of: alice.Key()}, ""},
		{ambit.Halt{Kind: ambit.HaltTenant, Of: "other"}, ""},
	} {
		t.Run(test.halt.String(), func(t *testing.T) {
			t.Parallel()
			spec := func(name string) ambit.Spec {
				s := echoSpec()
				s.Name, s.Effect = name, ambit.Write
				return s
			}
			halted, got := make(chan struct{}), make(chan ambit.Code, 1)
			var app *ambit.App
			inner := ambit.NewContract[ambit.Empty, ambit.Empty](spec("inner"))
			middle := ambit.Define(spec("middle"), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
				ctx, run := app.Delegate(context.WithoutCancel(ctx), ambit.RunOptions{Principal: third})
				go func() {
					defer run.End()
					<-halted
					_, err := inner.Call(ctx, ambit.Empty{})
					got <- ambit.CodeOf(err)
				}()
				return ambit.Empty{}, run.Err()
			})
			outer := ambit.Define(spec("outer"), func(ctx context.Context, _ ambit.Empty) (ambit.Empty, error) {
				ctx, run := app.Delegate(context.WithoutCancel(ctx), ambit.RunOptions{Principal: second})
				t.Cleanup(run.End)
				_, err := run.Invoke(ctx, ambit.Request{Name: "middle"})
				return ambit.Empty{}, err
			})
			app = newApp(ambit.Options{Policy: delegateAll{}}, middle, outer,
				inner.Bind(func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
			ctx, run := begin(t, app, robot, ambit.InProcess)
			_, err := run.Invoke(ctx, ambit.Request{Name: "outer"})
			app.Halt("process", test.halt)
			close(halted)
			if err != nil {
				t.Fatal(err)
			}
			if got := <-got; got != test.want {
				t.Errorf("what was handed on: want %q, got %q", test.want, got)
			}
		})
	}
}
