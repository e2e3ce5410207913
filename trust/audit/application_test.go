package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

type payInput struct {
	To     string `json:"to" minLength:"1"`
	Amount int    `json:"amount" minimum:"1"`
	Code   string `json:"code,omitempty" secret:"true"`
}

type payOutput struct {
	Receipt string `json:"receipt"`
}

// specOf is a capability that anyone who is known may call.
func specOf(name string, effect ambit.Effect) ambit.Spec {
	return ambit.Spec{Name: name, Description: "Test.", Effect: effect, Permission: ambit.Authenticated, RecordInput: true}
}

// bank is an application whose calls are on record.
func bank(log *audit.Log, logger *slog.Logger, handle func(context.Context, payInput) (payOutput, error)) *ambit.App {
	app := ambit.New(ambit.Options{Name: "bank", Ledger: log, Logger: logger, Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeAuto}})
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External} {
		app.Add(ambit.Define(specOf("pay."+effect.String(), effect), handle))
	}
	return app
}

func receipt(_ context.Context, in payInput) (payOutput, error) {
	return payOutput{"for " + in.To}, nil
}

// invoke makes one call as robot.
func invoke(ctx context.Context, app *ambit.App, request ambit.Request) error {
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: robot, Surface: ambit.InProcess})
	defer run.End()
	_, err := run.Invoke(ctx, request)
	return err
}

// Through the pipeline, every call is on record: with an intent where it does
// something that cannot be taken back, and with its input.
func TestT22_CallsThroughTheApplication(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	app := bank(log, nil, receipt)
	for _, request := range []ambit.Request{
		{Name: "pay.read", Input: []byte(`{"amount":1,"to":"bob"}`), Reason: "to see\nwhat happens"},
		{Name: "pay.read", Input: []byte(`{"amount":0,"to":"bob"}`)},
		{Name: "pay.write", Input: []byte(`{"amount":2,"to":"bob"}`)},
		{Name: "pay.execute", Input: []byte(`{"amount":3,"to":"bob"}`)},
		{Name: "pay.external", Input: []byte(`{"amount":4,"to":"bob"}`), IdempotencyKey: "k"},
		{Name: "pay.external", Input: []byte(`{"amount":4,"to":"bob"}`), IdempotencyKey: "k"},
		{Name: "pay.unknown"},
	} {
		_ = invoke(t.Context(), app, request)
	}
	flush(t, log)
	type line struct{ Kind, Capability, Input, Code, Reason string }
	want := []line{
		{"call", "pay.read", `{"amount":1,"to":"bob"}`, "", "to see"},
		{"refusal", "pay.read", "", "invalid_input", ""},
		{"call", "pay.write", `{"amount":2,"to":"bob"}`, "", ""},
		{"intent", "pay.execute", `{"amount":3,"to":"bob"}`, "", ""},
		{"outcome", "pay.execute", `{"amount":3,"to":"bob"}`, "", ""},
		{"intent", "pay.external", `{"amount":4,"to":"bob"}`, "", ""},
		{"outcome", "pay.external", `{"amount":4,"to":"bob"}`, "", ""},
		{"call", "pay.external", `{"amount":4,"to":"bob"}`, "", ""},
		{"refusal", "", "", "not_found", ""},
	}
	var got []line
	for _, r := range bodies(t, store, "acme") {
		got = append(got, line{r.Kind, r.Capability, string(r.Input), r.Code, r.Reason})
		if (r.Digest == "") != (r.Input == nil) {
			t.Errorf("%s %s: digest %q, input %s", r.Kind, r.Capability, r.Digest, r.Input)
		}
	}
	sorted := cmpopts.SortSlices(func(a, b line) bool { return fmt.Sprint(a) < fmt.Sprint(b) }) // reads wait longer
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	verified(t, log, "acme")
}

// The input of a read is recorded as that of any other call is, however it came
// and whatever size it has.
func TestT22_InputsOfReads(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store, func(o *audit.Options) { o.MaxInput = 30 << 10 })
	app := bank(log, nil, receipt)
	contract := ambit.NewContract[payInput, payOutput](specOf("pay.typed", ambit.Read))
	app.Add(contract.Bind(receipt))
	digests := map[string]string{}
	for _, size := range []int{1, 20 << 10, 40 << 10} {
		to := strings.Repeat("x", size)
		input := fmt.Appendf(nil, `{ "to":%q, "amount":1, "code":"0000" }`, to)
		for _, effect := range []ambit.Effect{ambit.Read, ambit.Execute} {
			if err := invoke(t.Context(), app, ambit.Request{Name: "pay." + effect.String(), Input: input}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: robot})
		if _, err := contract.Call(ctx, payInput{To: to, Amount: 1, Code: "0000"}); err != nil {
			t.Fatal(err)
		}
		run.End()
		flush(t, log)
		want := fmt.Sprintf(`{"amount":1,"code":"(secret)","to":%q}`, to)
		list := bodies(t, store, "acme")
		for _, r := range list[len(list)-4:] {
			if omitted := size > 30<<10; r.InputOmitted != omitted || !omitted && string(r.Input) != want {
				t.Errorf("%s of %d bytes: omitted %t, input %.80s", r.Capability, size, r.InputOmitted, r.Input)
			}
			if first := digests[to]; r.Digest == "" || first != "" && r.Digest != first {
				t.Errorf("%s of %d bytes: the digest is %q and not %q", r.Capability, size, r.Digest, first)
			}
			digests[to] = r.Digest
		}
	}
}

// An intent is there before its handler starts.
func TestT22_TheIntentComesFirst(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	var found []string
	app := bank(log, nil, func(ctx context.Context, _ payInput) (payOutput, error) {
		for _, r := range bodies(t, store, "acme") {
			found = append(found, r.Kind+" "+r.Call)
		}
		found = append(found, ambit.FromContext(ctx).ID().String())
		return payOutput{}, nil
	})
	if err := invoke(t.Context(), app, ambit.Request{Name: "pay.execute", Input: []byte(`{"amount":3,"to":"bob"}`)}); err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 || found[0] != "intent "+found[1] {
		t.Errorf("want the intent of the call on record when it starts, got %q", found)
	}
}

// A secret is nowhere: not in the record, not in the checkpoints, not in the log.
func TestT09_NoSecretIsOnRecord(t *testing.T) {
	t.Parallel()
	const canary = "canary-5150"
	store, kept := memoryStore(), &sink{}
	var said lockedBuffer
	logger := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log := newLog(t, store, func(o *audit.Options) { o.Checkpoints, o.Logger = kept, logger })
	app := bank(log, logger, func(_ context.Context, in payInput) (payOutput, error) {
		if in.Code != canary {
			return payOutput{}, fmt.Errorf("no code")
		}
		return receipt(t.Context(), in)
	})
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External} {
		for _, amount := range []int{0, 1} {
			request := ambit.Request{Name: "pay." + effect.String(), Input: fmt.Appendf(nil, `{"amount":%d,"to":"bob","code":%q}`, amount, canary)}
			if effect > ambit.Read {
				request.IdempotencyKey = fmt.Sprint(effect, amount)
			}
			_ = invoke(t.Context(), app, request)
			_ = invoke(t.Context(), app, request)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	list := entries(t, store, "acme")
	if len(list) < 16 {
		t.Fatalf("want 16 calls on record, got %d entries", len(list))
	}
	inputs := 0
	for _, e := range list {
		if r, _ := e.Record(); r.Input != nil {
			inputs++
		}
		if line := e.AppendJSON(nil); bytes.Contains(line, []byte(canary)) {
			t.Errorf("a secret is on record: %s", line)
		}
	}
	if inputs == 0 {
		t.Error("no input is on record, so that nothing was tested")
	}
	if text := fmt.Sprint(kept.kept, said.String()); strings.Contains(text, canary) {
		t.Errorf("a secret is in the checkpoints or the log: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// The operator is told what the record cannot do.
func TestT22_ReadySaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	log := newLog(t, memoryStore(), func(o *audit.Options) { o.Checkpoints = nil })
	notices := bank(log, nil, receipt).Notices()
	if text := strings.Join(notices, "\n"); !strings.Contains(text, "audit.Options.Checkpoints") {
		t.Errorf("want the missing checkpoints named, got %q", text)
	}
}
