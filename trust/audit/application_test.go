package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
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

type transactionKey struct{}

// joining is a store on which the application has a transaction open that always
// fails.
type joining struct {
	*memory.Store
	joined int
}

func (*joining) Joins(ctx context.Context) bool { return ctx.Value(transactionKey{}) != nil }

func (j *joining) Finish(context.Context, ambit.Claim, ambit.Ending) error {
	j.joined++
	return nil
}

// An outcome that is part of the application's own transaction, which can still
// fail, has its entry afterwards, so that the chain does not depend on it.
func TestT22_JoinedOutcomesAreWrittenAfterwards(t *testing.T) {
	t.Parallel()
	store := &joining{Store: memoryStore()}
	log := newLog(t, store)
	rollsBack := ambit.Middleware{Name: "transaction", Wrap: func(ctx context.Context, _ *ambit.Call, next ambit.Next) (any, error) {
		if _, err := next(context.WithValue(ctx, transactionKey{}, true)); err != nil {
			return nil, err
		}
		return nil, errors.New("the transaction failed")
	}}
	app := ambit.New(ambit.Options{Name: "bank", Ledger: log, Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(specOf("pay.execute", ambit.Execute), receipt).WithMiddleware(rollsBack))
	if err := invoke(t.Context(), app, ambit.Request{Name: "pay.execute", Input: []byte(`{"amount":3,"to":"bob"}`), IdempotencyKey: "k"}); err == nil {
		t.Error("want the failure of the transaction")
	}
	flush(t, log)
	list := bodies(t, store, "acme")
	if len(list) != 2 || list[1].Kind != "outcome" || list[1].Code == "" || store.joined != 1 {
		t.Errorf("want an intent and an outcome that failed, and the ledger's part joined once, got %d, %+v", store.joined, list)
	}
	verified(t, log, "acme")
}

// A call without an outcome is told, so that somebody can find out what it did.
func TestT22_VerifyTellsWhatHasNotEnded(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	app := bank(log, nil, func(ctx context.Context, _ payInput) (payOutput, error) {
		report, err := log.Verify(ctx, "acme", nil)
		if err != nil || len(report.Findings) > 0 || len(report.Open) != 1 || report.Open[0].Call != ambit.FromContext(ctx).ID().String() {
			t.Errorf("want the call itself open, got %+v, %v", report, err)
		}
		return payOutput{}, nil
	})
	if err := invoke(t.Context(), app, ambit.Request{Name: "pay.execute", Input: []byte(`{"amount":3,"to":"bob"}`)}); err != nil {
		t.Fatal(err)
	}
	if report := verified(t, log, "acme"); len(report.Open) > 0 {
		t.Errorf("want no call open, got %+v", report.Open)
	}
}

type yes struct{}

func (yes) Ask(context.Context, ambit.Question) (ambit.Answer, error) { return ambit.Allow, nil }

// Whose word a call ran by is on record with its outcome, and what that word was
// about.
func TestT22_WhoseWordACallRanBy(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	app := ambit.New(ambit.Options{Name: "bank", Ledger: log, Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(specOf("pay.external", ambit.External), receipt).WithPreview(func(_ context.Context, in payInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Pays " + in.To, Version: "7"}, nil
	}))
	ctx, run := app.NewRun(t.Context(), ambit.RunOptions{Principal: robot, Mode: ambit.ModeGuarded, Prompter: yes{}})
	defer run.End()
	if _, err := run.Invoke(ctx, ambit.Request{Name: "pay.external", Input: []byte(`{"amount":3,"to":"bob"}`)}); err != nil {
		t.Fatal(err)
	}
	flush(t, log)
	list := bodies(t, store, "acme")
	if len(list) != 2 || list[1].Kind != "outcome" || list[1].Level != "confirm" || list[1].Version != "7" {
		t.Errorf("want an outcome by confirmation of version 7, got %+v", list)
	}
}
