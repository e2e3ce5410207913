package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

func TestCallTyped(t *testing.T) {
	t.Parallel()
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	app := newApp(ambit.Options{}, contract.Bind(echo))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	for _, test := range []struct {
		name string
		in   echoInput
		want string
		code ambit.Code
	}{
		{"plain", echoInput{Text: "a", Times: 2}, "aa", ""},
		{"default", echoInput{Text: "a"}, "a", ""},
		{"too often", echoInput{Text: "a", Times: 4}, "", ambit.CodeInvalidInput},
		{"empty", echoInput{}, "", ambit.CodeInvalidInput},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := contract.Call(ctx, test.in)
			if got := ambit.CodeOf(err); got != test.code {
				t.Fatalf("want code %q, got %q: %v", test.code, got, err)
			}
			if out.Text != test.want {
				t.Errorf("want %q, got %q", test.want, out.Text)
			}
		})
	}
}

func TestCallOutsideRun(t *testing.T) {
	t.Parallel()
	contract := ambit.NewContract[echoInput, echoOutput](echoSpec())
	newApp(ambit.Options{}, contract.Bind(echo))
	_, err := contract.Call(t.Context(), echoInput{Text: "a"})
	if got := ambit.CodeOf(err); got != ambit.CodeUnauthenticated {
		t.Errorf("want unauthenticated, got %v", err)
	}
}

// A contract of the same name and other types is a bug that no call survives.
func TestCallThroughForeignContract(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
	ctx, _ := begin(t, app, alice, ambit.InProcess)
	foreign := ambit.NewContract[ambit.Empty, echoOutput](echoSpec())
	if _, err := foreign.Call(ctx, ambit.Empty{}); ambit.CodeOf(err) != ambit.CodeInternal {
		t.Errorf("want internal, got %v", err)
	}
}

// The answers of one call from JSON, whatever goes wrong.
func TestInvoke(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial tcp 10.0.0.7: password=hunter2")
	write := func(handler func(context.Context, echoInput) (echoOutput, error)) ambit.AnyCapability {
		spec := echoSpec()
		spec.Effect = ambit.Write
		return ambit.Define(spec, handler)
	}
	fails := func(err error) ambit.AnyCapability {
		return write(func(context.Context, echoInput) (echoOutput, error) { return echoOutput{}, err })
	}
	for _, test := range []struct {
		name       string
		capability ambit.AnyCapability
		principal  *ambit.Principal
		call, in   string
		want       string // output, or error object
	}{
		{"ok", nil, nil, "echo", `{"text":"a","times":3}`, `{"text":"aaa"}`},
		{"no arguments", nil, nil, "echo", ``, `{"code":"invalid_input","message":"The input is invalid: /text: is required; add it","field":"/text","faults":[{"pointer":"/text","rule":"required","message":"is required; add it"}]}`},
		{"unknown name", nil, nil, "ecco", `{}`, `{"code":"not_found","message":"There is no capability \"ecco\" here.","hint":"Did you mean \"echo\"?"}`},
		{"unknown name, anonymous", nil, anonymous, "ecco", `{}`, `{"code":"not_found","message":"There is no capability \"ecco\" here."}`},
		{"no permission", nil, &ambit.Principal{Subject: "bob"}, "echo", `{}`, `{"code":"forbidden","message":"You may not call this.","hint":"Ask the application's operator for the permission."}`},
		{"anonymous", nil, anonymous, "echo", `{}`, `{"code":"unauthenticated","message":"This needs a credential."}`},
		{"broken principal", nil, &ambit.Principal{}, "echo", `{}`, `{"code":"unauthenticated","message":"This needs a credential."}`},
		{
			"domain error", fails(ambit.Errorf(ambit.CodeConflict, "It has changed.").WithDetails(map[string]any{"version": 7})), nil, "echo", `{"text":"a"}`,
			`{"code":"conflict","message":"It has changed.","executed":"no","details":{"version":7}}`,
		},
		{
			"wrapped domain error", fails(errors.Join(secret, ambit.Errorf(ambit.CodeNotFound, "It is gone."))), nil, "echo", `{"text":"a"}`,
			`{"code":"not_found","message":"It is gone.","executed":"no"}`,
		},
		{
			"invalid by the handler", fails(ambit.Invalid("/text", "is taken", "b", "c")), nil, "echo", `{"text":"a"}`,
			`{"code":"invalid_input","message":"is taken","field":"/text","allowed":["b","c"],"faults":[{"pointer":"/text","rule":"application","message":"is taken","allowed":["b","c"]}],"executed":"no"}`,
		},
		{
			"code that is not a handler's", fails(ambit.Errorf(ambit.CodeUnauthenticated, "Who are you?")), nil, "echo", `{"text":"a"}`,
			`{"code":"internal","message":"The application failed to answer this call.","hint":"This is a fault of the application, not of the call. Tell the application's operator.","executed":"unknown"}`,
		},
		{
			"plain error", fails(secret), nil, "echo", `{"text":"a"}`,
			`{"code":"upstream","message":"Something that the application depends on failed.","hint":"Try again later; if it stays, tell the application's operator.","executed":"unknown"}`,
		},
		{
			"deadline of the handler's own", fails(context.DeadlineExceeded), nil, "echo", `{"text":"a"}`,
			`{"code":"deadline_exceeded","message":"The call took longer than it may.","executed":"unknown"}`,
		},
		{
			"typed nil error", fails((*ambit.Error)(nil)), nil, "echo", `{"text":"a"}`,
			`{"code":"internal","message":"The application failed to answer this call.","hint":"This is a fault of the application, not of the call. Tell the application's operator.","executed":"unknown"}`,
		},
		{
			"panic", write(func(context.Context, echoInput) (echoOutput, error) { panic(secret) }), nil, "echo", `{"text":"a"}`,
			`{"code":"internal","message":"The application failed to answer this call.","hint":"This is a fault of the application, not of the call. Tell the application's operator.","executed":"unknown"}`,
		},
		{
			"output breaks its schema", write(func(context.Context, echoInput) (echoOutput, error) {
				return echoOutput{Text: strings.Repeat("hunter2", 100)}, nil
			}), nil, "echo", `{"text":"a"}`,
			`{"code":"invalid_output","message":"The application produced a result that breaks its own contract.","hint":"This is a fault of the application, not of the call. Tell the application's operator.","executed":"yes"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.capability == nil {
				test.capability = ambit.Define(echoSpec(), echo)
			}
			if test.principal == nil {
				test.principal = alice
			}
			var log bytes.Buffer
			app := newApp(ambit.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, test.capability)
			ctx, run := begin(t, app, test.principal, ambit.HTTP)
			result, err := run.Invoke(ctx, ambit.Request{Name: test.call, Input: []byte(test.in)})
			got := string(result.Output)
			if err != nil {
				text, marshalErr := json.Marshal(failure(t, err))
				if marshalErr != nil {
					t.Fatal(marshalErr)
				}
				got = string(text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err != nil && failure(t, err).Code.HTTPStatus() >= 500 && log.Len() == 0 {
				t.Error("a fault of the application left no line for the operator")
			}
		})
	}
}

func TestDevelopmentTellsMore(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{Development: true}, ambit.Define(echoSpec(), func(context.Context, echoInput) (echoOutput, error) {
		return echoOutput{}, errors.New("no such table: notes")
	}))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
	want := map[string]any{"development": "no such table: notes"}
	if diff := cmp.Diff(want, failure(t, err).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

func TestT25_Bounds(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.MaxInput, spec.MaxResult = 30, 14
	app := newApp(ambit.Options{MaxDepth: 1}, ambit.Define(spec, echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, test := range []struct {
		name, in string
		want     ambit.Code
	}{
		{"fits", `{"text":"abc"}`, ""},
		{"input too large", `{"text":"abcdefghijklmnopqrstuvwxyz"}`, ambit.CodeInputTooLarge},
		{"result too large", `{"text":"abcd"}`, ambit.CodeResultTooLarge},
		{"too deep", `{"text":["abc"]}`, ambit.CodeInvalidInput},
	} {
		_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(test.in)})
		if got := ambit.CodeOf(err); got != test.want {
			t.Errorf("%s: want %q, got %q (%v)", test.name, test.want, got, err)
		}
	}
}

func TestTextAndContent(t *testing.T) {
	t.Parallel()
	named := func(name string) ambit.Spec { s := echoSpec(); s.Name = name; return s }
	words := ambit.Define(named("words"), func(_ context.Context, in echoInput) (string, error) { return in.Text, nil })
	compact := ambit.Define(named("compact"), echo).WithText(func(out echoOutput) string { return "said " + out.Text })
	picture := ambit.Define(named("picture"), echo).WithContent(func(echoOutput) []ambit.Content {
		return []ambit.Content{{Kind: ambit.ImageContent, Data: []byte{1}, MIMEType: "image/png"}}
	})
	broken := ambit.Define(named("broken"), echo).WithContent(func(echoOutput) []ambit.Content { return []ambit.Content{{}} })
	app := newApp(ambit.Options{}, ambit.Define(named("plain"), echo), words, compact, picture, broken)
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, test := range []struct {
		name    string
		text    string
		hasText bool
		content int
		code    ambit.Code
	}{
		{"plain", "", false, 0, ""},
		{"words", "a\n", true, 0, ""},
		{"compact", "said a\n", true, 0, ""},
		{"picture", "", false, 1, ""},
		{"broken", "", false, 0, ambit.CodeInvalidOutput},
	} {
		result, err := run.Invoke(ctx, ambit.Request{Name: test.name, Input: []byte(`{"text":"a\n"}`), WantText: true})
		if got := ambit.CodeOf(err); got != test.code {
			t.Errorf("%s: want code %q, got %q", test.name, test.code, got)
		}
		if result.Text != test.text || result.HasText != test.hasText || len(result.Content) != test.content {
			t.Errorf("%s: want text %q %v and %d contents, got %q %v and %d", test.name, test.text, test.hasText, test.content, result.Text, result.HasText, len(result.Content))
		}
	}
}

func TestInvokeAppends(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	result, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`), Into: []byte(`{"data":`)})
	if err != nil {
		t.Fatal(err)
	}
	if want, got := `{"data":{"text":"a"}`, string(result.Buffer); want != got {
		t.Errorf("buffer: want %s, got %s", want, got)
	}
}

func TestRawContract(t *testing.T) {
	t.Parallel()
	raw := ambit.NewRawContract(echoSpec(),
		`{"type":"object","properties":{"n":{"type":"integer"},"unit":{"type":"string","default":"m"}},"required":["n"],"additionalProperties":false}`,
		`{"type":"object"}`)
	var kept json.RawMessage
	app := newApp(ambit.Options{}, raw.Bind(func(_ context.Context, in json.RawMessage) (json.RawMessage, error) {
		kept = in
		return in, nil
	}))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	body := []byte(`{"n":9007199254740993}`)
	result, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: body})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"n":9007199254740993,"unit":"m"}`
	if got := string(result.Output); got != want {
		t.Errorf("output: want %s, got %s", want, got)
	}
	clear(body)
	if got := string(kept); got != want {
		t.Errorf("the handler's copy changed with the request: want %s, got %s", want, got)
	}
}

func TestAuthorizeInput(t *testing.T) {
	t.Parallel()
	var ran bool
	capability := ambit.Define(echoSpec(), func(ctx context.Context, in echoInput) (echoOutput, error) {
		ran = true
		return echo(ctx, in)
	}).WithAuthorizeInput(func(ctx context.Context, in echoInput) error {
		if in.Text != ambit.FromContext(ctx).Principal().Subject {
			return ambit.Errorf(ambit.CodeForbidden, "Only your own name.")
		}
		return nil
	})
	app := newApp(ambit.Options{}, capability)
	ctx, run := begin(t, app, alice, ambit.HTTP)
	_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"bob"}`)})
	if e := failure(t, err); e.Code != ambit.CodeForbidden || e.Message != "Only your own name." || ran {
		t.Errorf("want the rule's refusal before the handler, got %v, ran %v", e, ran)
	}
	if _, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"alice"}`)}); err != nil || !ran {
		t.Errorf("want success, got %v, ran %v", err, ran)
	}
}

// What asks for someone's word is refused while nobody can be asked, in the
// words of the surface.
func TestT18_GateIsClosed(t *testing.T) {
	t.Parallel()
	unavailable, declined := ambit.CodeConfirmationUnavailable, ambit.CodeDeclined
	for _, test := range []struct {
		effect                       ambit.Effect
		process, command, http, mcp_ ambit.Code
	}{
		{ambit.Read, "", "", "", ""},
		{ambit.Write, "", "", "", ""},
		{ambit.Execute, "", "", "", unavailable},
		{ambit.External, "", "", "", unavailable},
		{ambit.Destructive, declined, declined, unavailable, ambit.CodeNotFound},
	} {
		spec := echoSpec()
		spec.Effect = test.effect
		if test.effect == ambit.Destructive {
			spec.Expose = ambit.HTTP
		}
		app := newApp(ambit.Options{}, ambit.Define(spec, echo))
		for surface, want := range map[ambit.Surface]ambit.Code{
			ambit.InProcess: test.process, ambit.CommandLine: test.command, ambit.HTTP: test.http, ambit.MCP: test.mcp_,
		} {
			ctx, run := begin(t, app, alice, surface)
			_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)})
			if got := ambit.CodeOf(err); got != want {
				t.Errorf("%s over %s: want %q, got %q", test.effect, surface, want, got)
			}
			_, err = run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(`{}`)})
			if got := ambit.CodeOf(err); want != ambit.CodeNotFound && got != ambit.CodeInvalidInput {
				t.Errorf("%s over %s with invalid input: want invalid_input before anyone is asked, got %q", test.effect, surface, got)
			}
		}
	}
}

func TestT21_KeyedCallIsRefusedWithoutRecord(t *testing.T) {
	t.Parallel()
	spec := echoSpec()
	spec.Name, spec.Effect = "change", ambit.Write
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), echo), ambit.Define(spec, echo))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for name, want := range map[string]ambit.Code{"echo": "", "change": ambit.CodeInvalidInput} {
		_, err := run.Invoke(ctx, ambit.Request{Name: name, Input: []byte(`{"text":"a"}`), IdempotencyKey: "k"})
		if got := ambit.CodeOf(err); got != want {
			t.Errorf("%s: want %q, got %q", name, want, got)
		}
	}
}

func TestDeadlineAndCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spec := echoSpec()
		spec.Deadline = time.Minute
		app := newApp(ambit.Options{}, ambit.Define(spec, func(ctx context.Context, _ echoInput) (echoOutput, error) {
			<-ctx.Done()
			return echoOutput{}, ctx.Err()
		}))
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		request := ambit.Request{Name: "echo", Input: []byte(`{"text":"a"}`)}

		ctx, run := app.NewRun(parent, ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
		began := time.Now()
		_, err := run.Invoke(ctx, request)
		if got := ambit.CodeOf(err); got != ambit.CodeDeadlineExceeded || time.Since(began) != time.Minute {
			t.Errorf("want deadline_exceeded after a minute, got %q after %v", got, time.Since(began))
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error is not context.DeadlineExceeded")
		}

		done := make(chan error)
		go func() { _, err := run.Invoke(ctx, request); done <- err }()
		synctest.Wait()
		run.End()
		if err := <-done; ambit.CodeOf(err) != ambit.CodeCanceled {
			t.Errorf("run ended under a call: want canceled, got %v", err)
		}
		if _, err := run.Invoke(ctx, request); ambit.CodeOf(err) != ambit.CodeCanceled {
			t.Errorf("call after the run's end: want canceled, got %v", err)
		}

		ctx, run = app.NewRun(parent, ambit.RunOptions{Principal: alice, Surface: ambit.HTTP})
		defer run.End()
		go func() { _, err := run.Invoke(ctx, request); done <- err }()
		synctest.Wait()
		cancel()
		if err := <-done; ambit.CodeOf(err) != ambit.CodeCanceled {
			t.Errorf("client gone: want canceled, got %v", err)
		}
	})
}

func TestProgressAndLog(t *testing.T) {
	t.Parallel()
	var late func()
	app := newApp(ambit.Options{}, ambit.Define(echoSpec(), func(ctx context.Context, in echoInput) (echoOutput, error) {
		call := ambit.FromContext(ctx)
		call.Progress(1, 2, "half")
		call.Run().Log(slog.LevelWarn, "careful")
		late = func() { call.Progress(2, 2, "late"); call.Run().Log(slog.LevelInfo, "late") }
		return echo(ctx, in)
	}))
	var progress []ambit.Progress
	var logged []string
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
		Principal: alice, Surface: ambit.HTTP,
		Log: func(level slog.Level, text string) { logged = append(logged, level.String()+" "+text) },
	})
	_, err := run.Invoke(ctx, ambit.Request{
		Name: "echo", Input: []byte(`{"text":"a"}`),
		Progress: func(p ambit.Progress) { progress = append(progress, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	run.End()
	late()
	if diff := cmp.Diff([]ambit.Progress{{Done: 1, Total: 2, Message: "half"}}, progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"WARN careful"}, logged); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// A handler is a plain function: what it takes from its context is harmless
// where there is no call.
func TestHandlerOutsideCall(t *testing.T) {
	t.Parallel()
	call := ambit.FromContext(context.Background())
	call.Progress(1, 2, "")
	call.Run().Log(slog.LevelInfo, "")
	call.Run().End()
	if call.Principal() != nil || call.Capability() != "" || call.Run().Err() != nil || call.ID() != 0 || call.Reason() != "" {
		t.Error("a nil call has something to say")
	}
}

type spanInput struct {
	From int `json:"from" minimum:"0"`
	To   int `json:"to" minimum:"0"`
}

func (in *spanInput) Check(context.Context) []ambit.Fault {
	if in.To < in.From {
		return []ambit.Fault{{Pointer: "to", Message: "must not come before /from"}}
	}
	return nil
}

// An input type's own rules are asked when the schema's hold, and no sooner.
func TestRulesAcrossMembers(t *testing.T) {
	t.Parallel()
	contract := ambit.NewContract[spanInput, ambit.Empty](echoSpec())
	app := newApp(ambit.Options{}, contract.Bind(func(context.Context, spanInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	ctx, run := begin(t, app, alice, ambit.HTTP)
	for _, test := range []struct {
		name, in string
		want     []ambit.Fault
	}{
		{"holds", `{"from":1,"to":2}`, nil},
		{"broken", `{"from":2,"to":1}`, []ambit.Fault{{Pointer: "/to", Rule: "application", Message: "must not come before /from"}}},
		{"the schema comes first", `{"from":2,"to":-1}`, []ambit.Fault{{Pointer: "/to", Rule: "minimum", Message: "must be at least 0, not -1"}}},
	} {
		_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(test.in)})
		var got []ambit.Fault
		if err != nil {
			got = failure(t, err).Faults
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := contract.Call(ctx, spanInput{From: 2, To: 1}); ambit.CodeOf(err) != ambit.CodeInvalidInput {
		t.Errorf("typed: want invalid_input, got %v", err)
	}
}
