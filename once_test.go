package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

var writer = &ambit.Principal{Authority: "test", Subject: "alice", Client: "app", Permissions: []string{"write"}, Unscoped: true}

func writeSpec(name string) ambit.Spec {
	return ambit.Spec{Name: name, Description: "Change something.", Effect: ambit.Write, Permission: "write", Expose: ambit.HTTP | ambit.MCP}
}

// counted counts how often it runs, and says so.
type counted struct {
	runs atomic.Int64
	hold chan struct{} // the first run waits for it; nil: it does not
	err  error
}

func (c *counted) run(_ context.Context, in echoInput) (echoOutput, error) {
	n := c.runs.Add(1)
	if n == 1 && c.hold != nil {
		<-c.hold
	}
	if c.err != nil {
		return echoOutput{}, c.err
	}
	return echoOutput{Text: fmt.Sprintf("%s %d", in.Text, n)}, nil
}

func memory() *idempotency.Memory { return idempotency.NewMemory(idempotency.Options{}) }

// invoke makes one keyed call over HTTP and returns output or error as text.
func invoke(app *ambit.App, p *ambit.Principal, name, input, key string) string {
	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: p, Surface: ambit.HTTP})
	defer run.End()
	result, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(input), IdempotencyKey: key})
	if err == nil {
		text := string(result.Output)
		if result.Replayed {
			text += " replayed"
		}
		return text
	}
	text, _ := json.Marshal(err)
	if e, ok := errors.AsType[*ambit.Error](err); ok && e.Replayed() {
		return string(text) + " replayed"
	}
	return string(text)
}

// Every state of a record, for the call that it belongs to and for others. The
// exact answers are in testdata/keyed.txt.
func TestT21_StatesAndBindings(t *testing.T) {
	t.Parallel()
	states := []struct {
		name string
		err  error
		// begin makes the record's call and leaves it in the state.
		begin func(app *ambit.App, c *counted)
	}{
		{"free", nil, func(*ambit.App, *counted) {}},
		{"running", nil, func(app *ambit.App, c *counted) {
			c.hold = make(chan struct{})
			go invoke(app, writer, "change", `{"text":"a"}`, "k")
			synctest.Wait()
		}},
		{"lapsed", nil, func(app *ambit.App, c *counted) {
			c.hold = make(chan struct{})
			go invoke(app, writer, "change", `{"text":"a"}`, "k")
			<-time.After(ambit.DefaultDeadline + time.Minute)
		}},
		{"finished", nil, func(app *ambit.App, _ *counted) {
			invoke(app, writer, "change", `{"text":"a"}`, "k")
		}},
		{"finished late", nil, func(app *ambit.App, c *counted) {
			c.hold = make(chan struct{})
			go invoke(app, writer, "change", `{"text":"a"}`, "k")
			<-time.After(time.Hour)
			close(c.hold)
			synctest.Wait()
			c.hold = nil
		}},
		{"failed", errors.New("the disk is full"), func(app *ambit.App, _ *counted) {
			invoke(app, writer, "change", `{"text":"a"}`, "k")
		}},
		{
			"failed, with details", withExecuted(ambit.Errorf(ambit.CodeConflict, "Half done.").WithDetails(map[string]any{"version": int64(9007199254740993)}), ambit.ExecutedYes),
			func(app *ambit.App, _ *counted) { invoke(app, writer, "change", `{"text":"a"}`, "k") },
		},
		{"vouched that nothing happened", ambit.Errorf(ambit.CodeConflict, "Somebody was faster."), func(app *ambit.App, _ *counted) {
			invoke(app, writer, "change", `{"text":"a"}`, "k")
		}},
		{"expired", nil, func(app *ambit.App, _ *counted) {
			invoke(app, writer, "change", `{"text":"a"}`, "k")
			<-time.After(24 * time.Hour)
		}},
	}
	other := *writer
	other.Client = "another"
	bob := *writer
	bob.Subject = "bob"
	calls := []struct {
		name        string
		who         *ambit.Principal
		call, input string
	}{
		{"the same", writer, "change", `{"text":"a"}`},
		{"the same, written another way", writer, "change", `{ "times": 1.0, "text": "\u0061" }`},
		{"another input", writer, "change", `{"text":"b"}`},
		{"another capability", writer, "move", `{"text":"a"}`},
		{"another client", &other, "change", `{"text":"a"}`},
		{"another principal", &bob, "change", `{"text":"a"}`},
	}
	var text strings.Builder
	for _, state := range states {
		for _, call := range calls {
			synctest.Test(t, func(t *testing.T) {
				c := &counted{err: state.err}
				app := newApp(ambit.Options{Ledger: memory()}, ambit.Define(writeSpec("change"), c.run), ambit.Define(writeSpec("move"), echo))
				state.begin(app, c)
				fmt.Fprintf(&text, "%s, %s: %s", state.name, call.name, invoke(app, call.who, call.call, call.input, "k"))
				fmt.Fprintf(&text, " (%d runs)\n", c.runs.Load())
				if c.hold != nil {
					close(c.hold)
				}
			})
		}
	}
	golden(t, "keyed.txt", text.String())
}

func withExecuted(e *ambit.Error, executed ambit.Executed) *ambit.Error {
	e.Executed = executed
	return e
}

func TestT21_ContractThatChanged(t *testing.T) {
	t.Parallel()
	ledger, c := memory(), &counted{}
	spec := writeSpec("change")
	before := newApp(ambit.Options{Ledger: ledger}, ambit.Define(spec, c.run))
	spec.Revision = "2"
	after := newApp(ambit.Options{Ledger: ledger}, ambit.Define(spec, c.run))
	invoke(before, writer, "change", `{"text":"a"}`, "k")
	got := invoke(after, writer, "change", `{"text":"a"}`, "k")
	if !strings.Contains(got, "stands for another call") || c.runs.Load() != 1 {
		t.Errorf("want a conflict and one run, got %s and %d", got, c.runs.Load())
	}
}

func TestT21_Keys(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{Ledger: memory()}, ambit.Define(echoSpec(), echo), ambit.Define(func() ambit.Spec {
		s := writeSpec("open")
		s.Permission = ambit.Public
		return s
	}(), echo))
	reader := *writer
	reader.Permissions = []string{"echo"}
	tests := []struct {
		name, call, key, want string
		who                   *ambit.Principal
	}{
		{"shortest", "open", "!", `{"text":"a"}`, writer},
		{"longest", "open", strings.Repeat("~", 255), `{"text":"a"}`, writer},
		{"too long", "open", strings.Repeat("~", 256), "not 1 to 255 visible", writer},
		{"space", "open", "a b", "not 1 to 255 visible", writer},
		{"line break", "open", "a\nb", "not 1 to 255 visible", writer},
		{"beyond ASCII", "open", "ä", "not 1 to 255 visible", writer},
		{"nobody in particular", "open", "k", "needs a credential", anonymous},
		{"a read pays no heed", "echo", "a b", `{"text":"a"}`, &reader},
	}
	for _, test := range tests {
		if got := invoke(app, test.who, test.call, `{"text":"a"}`, test.key); !strings.Contains(got, test.want) || strings.Contains(got, "replayed") {
			t.Errorf("%s: want %s, got %s", test.name, test.want, got)
		}
	}
	calls := &ledgerCalls{Ledger: memory()}
	app = newApp(ambit.Options{Ledger: calls}, ambit.Define(echoSpec(), echo), ambit.Define(writeSpec("change"), echo))
	invoke(app, &reader, "echo", `{"text":"a"}`, "k")
	invoke(app, writer, "change", `{"text":"a"}`, "")
	invoke(app, writer, "change", `{"text":""}`, "k")
	invoke(app, &reader, "change", `{"text":"a"}`, "k")
	if got := calls.String(); got != "" {
		t.Errorf("want a ledger that hears of no read, no call without a key and no refusal, got %s", got)
	}
}

func TestT17_ConcurrentCallsRunOnce(t *testing.T) {
	t.Parallel()
	c := &counted{}
	app := newApp(ambit.Options{Ledger: memory(), Limits: ambit.Limits{InFlight: 1000}}, ambit.Define(writeSpec("change"), c.run))
	answers := make([]string, 100)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = invoke(app, writer, "change", `{"text":"a"}`, "k") })
	}
	all.Wait()
	first := 0
	for _, got := range answers {
		switch {
		case got == `{"text":"a 1"}`:
			first++
		case got == `{"text":"a 1"} replayed`, strings.Contains(got, "still running"):
		default:
			t.Errorf("want the answer, a repetition of it or a conflict, got %s", got)
		}
	}
	if c.runs.Load() != 1 || first != 1 {
		t.Errorf("want one run and one first answer, got %d and %d", c.runs.Load(), first)
	}
}

// ledgerCalls notes what a ledger is asked, and fails where it is told to.
type ledgerCalls struct {
	ambit.Ledger
	fail map[string]error // by method
	mu   sync.Mutex
	text strings.Builder
	kept [][]byte
}

func (l *ledgerCalls) note(method string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(method + " ")
	err := l.fail[method]
	if err != nil && err.Error() == "panic" {
		panic(err)
	}
	return err
}

func (l *ledgerCalls) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text.String())
}

func (l *ledgerCalls) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	if err := l.note("find"); err != nil {
		return ambit.Record{}, err
	}
	return l.Ledger.Find(ctx, c)
}

func (l *ledgerCalls) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	record, err := l.Ledger.Claim(ctx, c)
	return record, errors.Join(err, l.note("claim"))
}

func (l *ledgerCalls) Finish(ctx context.Context, c ambit.Claim, e ambit.Ending) error {
	if err := l.note("finish"); err != nil {
		return err
	}
	l.kept = append(l.kept, e.Outcome)
	return l.Ledger.Finish(ctx, c, e)
}

func (l *ledgerCalls) Release(ctx context.Context, c ambit.Claim) error {
	return errors.Join(l.note("release"), ctx.Err(), l.Ledger.Release(ctx, c))
}

// A ledger that fails keeps a call from running, or a repetition from it.
func TestT17_FailingLedger(t *testing.T) {
	t.Parallel()
	broken := errors.New("no connection to db.internal")
	tests := []struct {
		name          string
		fail          map[string]error
		first, second string // codes; "" for success
		calls         string
		runs          int64
	}{
		{"look-up", map[string]error{"find": broken}, "unavailable", "unavailable", "find find", 0},
		{"look-up panics", map[string]error{"find": errors.New("panic")}, "unavailable", "unavailable", "find find", 0},
		{"look-up with an answer", map[string]error{"find": ambit.Errorf(ambit.CodeRateLimited, "Full.")}, "rate_limited", "rate_limited", "find find", 0},
		{"claim, made all the same", map[string]error{"claim": broken}, "unavailable", "unavailable", "find claim release find claim release", 0},
		{"finish", map[string]error{"finish": broken}, "", "conflict", "find claim finish finish finish finish find", 1},
		{"finish panics", map[string]error{"finish": errors.New("panic")}, "", "conflict", "find claim finish find", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which waits between two tries
				var log bytes.Buffer
				c, ledger := &counted{}, &ledgerCalls{Ledger: memory(), fail: test.fail}
				app := newApp(ambit.Options{Ledger: ledger, Logger: slog.New(slog.NewTextHandler(&log, nil))}, ambit.Define(writeSpec("change"), c.run))
				for _, want := range []string{test.first, test.second} {
					got := invoke(app, writer, "change", `{"text":"a"}`, "k")
					if strings.Contains(got, "db.internal") {
						t.Errorf("want nothing of the inside, got %s", got)
					}
					if want == "" && got != `{"text":"a 1"}` || want != "" && !strings.Contains(got, `"code":"`+want+`"`) {
						t.Errorf("want %q, got %s", want, got)
					}
				}
				if diff := cmp.Diff(test.calls, ledger.String()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if c.runs.Load() != test.runs {
					t.Errorf("want %d runs, got %d", test.runs, c.runs.Load())
				}
				if test.name == "finish" && !strings.Contains(log.String(), "was not recorded") {
					t.Errorf("want the operator told, got %s", &log)
				}
			})
		})
	}
}

// canceler cancels a call while its claim is made.
type canceler struct {
	*ledgerCalls
	cancel context.CancelFunc
}

func (c canceler) Claim(ctx context.Context, claim ambit.Claim) (ambit.Record, error) {
	defer c.cancel()
	return c.ledgerCalls.Claim(ctx, claim)
}

func TestT17_ReleasedWhatNeverStarted(t *testing.T) {
	t.Parallel()
	c := &counted{}
	ctx, cancel := context.WithCancel(t.Context())
	ledger := canceler{&ledgerCalls{Ledger: memory()}, cancel}
	app := newApp(ambit.Options{Ledger: ledger}, ambit.Define(writeSpec("change"), c.run))
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: writer, Surface: ambit.HTTP})
	_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
	run.End()
	if e := failure(t, err); e.Code != ambit.CodeCanceled || e.Executed != ambit.ExecutedNo {
		t.Errorf("want canceled and not executed, got %v", e)
	}
	if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); got != `{"text":"a 1"}` {
		t.Errorf("want the first run, got %s", got)
	}
	if want, got := "find claim release find claim finish", ledger.String(); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// What happens to the handler is the outcome: a panic, the caller who leaves, a
// deadline. None of it runs again.
func TestT17_OutcomesNobodyExpects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		app := newApp(ambit.Options{Ledger: memory()},
			ambit.Define(writeSpec("panics"), func(context.Context, echoInput) (echoOutput, error) { runs++; panic("no") }),
			ambit.Define(writeSpec("waits"), func(ctx context.Context, _ echoInput) (echoOutput, error) {
				runs++
				<-ctx.Done()
				return echoOutput{}, ctx.Err()
			}),
			ambit.Define(writeSpec("lies"), func(context.Context, echoInput) (echoOutput, error) {
				runs++
				return echoOutput{Text: strings.Repeat("a", 201)}, nil
			}))
		for name, want := range map[string]string{"panics": `"internal"`, "waits": `"deadline_exceeded"`, "lies": `"invalid_output"`} {
			first := invoke(app, writer, name, `{"text":"a"}`, name)
			if got := invoke(app, writer, name, `{"text":"a"}`, name); got != first+" replayed" || !strings.Contains(got, want) {
				t.Errorf("%s: want %s replayed with %s, got %s", name, first, want, got)
			}
		}
		if runs != 3 {
			t.Errorf("want one run each, got %d", runs)
		}
	})
}

// A call that waits for a person holds no key.
func TestT17_WaitingHoldsNoKey(t *testing.T) {
	t.Parallel()
	ledger := &ledgerCalls{Ledger: memory()}
	c := &counted{}
	app := newApp(ambit.Options{Ledger: ledger, Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeDefault}}, ambit.Define(writeSpec("change"), c.run))
	asked := 0
	for _, want := range []string{`{"text":"a 1"}`, `{"text":"a 1"}`} {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: writer, Surface: ambit.HTTP, Prompter: ambit.PrompterFunc(
			func(context.Context, ambit.Question) (ambit.Answer, error) {
				asked++
				if got := ledger.String(); got != "find" {
					t.Errorf("while a person thinks: want nothing but a look-up, got %s", got)
				}
				return ambit.Allow, nil
			})})
		result, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
		run.End()
		if err != nil || string(result.Output) != want {
			t.Errorf("want %s, got %s, %v", want, result.Output, err)
		}
	}
	if asked != 1 {
		t.Errorf("want one question: what was done is not asked about; got %d", asked)
	}
}

// blind is a ledger whose look-ups see nothing yet, as where another instance
// is a moment ahead.
type blind struct{ ambit.Ledger }

func (blind) Find(context.Context, ambit.Claim) (ambit.Record, error) { return ambit.Record{}, nil }

func TestT17_TheClaimDecides(t *testing.T) {
	t.Parallel()
	c := &counted{}
	app := newApp(ambit.Options{Ledger: blind{memory()}}, ambit.Define(writeSpec("change"), c.run))
	for _, test := range []struct{ input, want string }{
		{`{"text":"a"}`, `{"text":"a 1"}`},
		{`{"text":"a"}`, `{"text":"a 1"} replayed`},
		{`{"text":"b"}`, "stands for another call"},
	} {
		if got := invoke(app, writer, "change", test.input, "k"); !strings.Contains(got, test.want) {
			t.Errorf("%s: want %s, got %s", test.input, test.want, got)
		}
	}
	if calls, _ := ambit.AtWork(app); calls != 0 || c.runs.Load() != 1 {
		t.Errorf("want no slot taken and one run, got %d and %d", calls, c.runs.Load())
	}
}

// odd is a ledger whose look-ups do what the test says.
type odd struct {
	ambit.Ledger
	find func(context.Context, ambit.Claim) (ambit.Record, error)
}

func (o odd) Find(ctx context.Context, c ambit.Claim) (ambit.Record, error) { return o.find(ctx, c) }

func TestT17_OddLedgers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &counted{}
		app := newApp(ambit.Options{Ledger: odd{memory(), func(_ context.Context, c ambit.Claim) (ambit.Record, error) {
			return ambit.Record{State: 99, Operation: c.Binding.Operation()}, nil
		}}}, ambit.Define(writeSpec("change"), c.run))
		if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); !strings.Contains(got, `"unavailable"`) {
			t.Errorf("a state that is none: want unavailable, got %s", got)
		}
		hangs := odd{memory(), func(ctx context.Context, _ ambit.Claim) (ambit.Record, error) {
			<-ctx.Done()
			return ambit.Record{}, ctx.Err()
		}}
		app = newApp(ambit.Options{Ledger: hangs}, ambit.Define(writeSpec("change"), c.run))
		began := time.Now()
		if got := invoke(app, writer, "change", `{"text":"a"}`, "k"); !strings.Contains(got, `"unavailable"`) || time.Since(began) != 5*time.Second {
			t.Errorf("one that hangs: want unavailable after five seconds, got %s after %v", got, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: writer, Surface: ambit.HTTP})
		defer run.End()
		_, err := run.Invoke(ctx, ambit.Request{Name: "change", Input: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
		if e := failure(t, err); e.Code != ambit.CodeDeadlineExceeded || e.Executed != ambit.ExecutedNo {
			t.Errorf("a caller who does not wait: want deadline_exceeded and not executed, got %v", e)
		}
		if c.runs.Load() != 0 {
			t.Errorf("want no run, got %d", c.runs.Load())
		}
	})
}
