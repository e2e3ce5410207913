package storetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Secrets is a store whose contents can be read past it.
type Secrets struct {
	// Store is the store, which is empty.
	Store ApprovalsAndAudit
	// Texts returns everything that is kept and said on the store's side, by where
	// it is: files, rows, a server's log.
	Texts func(t *testing.T) map[string][]byte
	// Close closes the store.
	Close func() error
}

// The parts of a secret and of a text that is none. They are letters and digits, so
// that no way of quoting changes them.
const (
	secretPart = "canary5150"
	openPart   = "frontdoor7"
	oncePart   = "onlyonce77" // of an outcome that must not be kept
)

type vaultInput struct {
	Door string `json:"door" minLength:"1"`
	Code string `json:"code" secret:"true"`
}

type vaultOutput struct {
	Seen string `json:"seen"`
}

// RunSecrets makes calls of every effect with a secret in their input: keyed,
// confirmed, approved by a person who was told of it by a webhook, executed and
// repeated. Afterwards the secret is nowhere, be it plain, quoted, in base64 or in
// hexadecimal: not in what Texts returns, be the store open or closed, nor in logs,
// checkpoints, notices, answers, or what the person was shown. What is no secret is
// found there. Of an outcome that must not be kept nothing is in the store, sealed or
// not.
func RunSecrets(t *testing.T, s Secrets) {
	t.Helper()
	v := newVault(t, s.Store)
	v.effects(t)
	v.confirmed(t)
	v.approved(t)
	v.once(t)
	if err := errors.Join(v.approvals.Close(t.Context()), v.log.Flush(t.Context())); err != nil {
		t.Error(err)
	}
	texts := make(map[string][]byte)
	keep := func(prefix string, found map[string][]byte) {
		for name, text := range found {
			texts[prefix+name] = text
		}
	}
	keep("open store: ", s.Texts(t))
	if err := errors.Join(v.log.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	keep("closed store: ", s.Texts(t))
	checkpoints, err := os.ReadFile(v.checkpoints)
	if err != nil {
		t.Fatal(err)
	}
	texts["checkpoints"] = checkpoints
	inStore := false
	for name, text := range texts {
		inStore = inStore || reads(text, openPart)
		if reads(text, secretPart) || reads(text, oncePart) {
			t.Errorf("%s: the secret is there", name)
		}
	}
	if !inStore {
		t.Error("the store has nothing of the input at all, so that nothing was tested")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, text := range v.said {
		if reads(text.Bytes(), secretPart) {
			t.Errorf("%s: the secret is there:\n%s", name, text)
		}
	}
	for name, part := range map[string]string{"log": "vault.human", "notices": "vault.human", "answers": openPart, "shown": openPart} {
		if text := v.said[name]; text == nil || !reads(text.Bytes(), part) {
			t.Errorf("%s: want %q there, so that something was tested, got:\n%s", name, part, text)
		}
	}
}

// vault is an application whose calls take a secret.
type vault struct {
	app         *ambit.App
	store       approval.Store
	keys        *ambit.KeyRing
	log         *audit.Log
	approvals   *approval.Approvals
	checkpoints string // a file

	mu   sync.Mutex
	said map[string]*bytes.Buffer // what left the application, by the way that it took
}

// way is one on which something leaves.
type way struct {
	v    *vault
	name string
}

func (w way) Write(text []byte) (int, error) {
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	if w.v.said[w.name] == nil {
		w.v.said[w.name] = new(bytes.Buffer)
	}
	return w.v.said[w.name].Write(text)
}

func newVault(t *testing.T, store ApprovalsAndAudit) *vault {
	t.Helper()
	v := &vault{checkpoints: filepath.Join(t.TempDir(), "checkpoints"), said: make(map[string]*bytes.Buffer)}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := errors.Join(r.Header.Write(way{v, "notices"}), copied(way{v, "notices"}, r.Body)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(receiver.Close)
	webhook, err := approval.NewWebhook(approval.WebhookOptions{
		URL: receiver.URL, Secrets: [][]byte{bytes.Repeat([]byte{2}, approval.MinWebhookSecret)}, Loopback: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{1}, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	v.store, v.keys = store, ring
	all := &slog.HandlerOptions{Level: slog.LevelDebug}
	logger := slog.New(slog.NewMultiHandler(slog.NewTextHandler(way{v, "log"}, all), slog.NewJSONHandler(way{v, "log"}, all)))
	if v.log, err = audit.New(store, audit.Options{Keys: ring, Application: "vault", Checkpoints: audit.CheckpointFile(v.checkpoints), Logger: logger}); err != nil {
		t.Fatal(err)
	}
	if v.approvals, err = approval.New(store, approval.Options{
		Audit: v.log, Logger: logger, Notifiers: []approval.Notifier{webhook}, URL: "https://vault.example/approvals",
	}); err != nil {
		t.Fatal(err)
	}
	v.app = ambit.New(ambit.Options{
		Name: "vault", Keys: ring, Approver: v.approvals, Ledger: v.log, Logger: logger, Observers: []ambit.Observer{ambit.LogObserver(logger)},
		Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeAuto},
	})
	v.add("human", ambit.Destructive, ambit.Human)
	v.app.Add(ambit.Define(ambit.Spec{
		Name: "vault.once", Description: "Show a password once.", Effect: ambit.Write, Permission: ambit.Authenticated, Approval: ambit.Human, Expose: ambit.HTTP,
		Replay: ambit.ReplayReceipt,
	}, func(context.Context, vaultInput) (vaultOutput, error) { return vaultOutput{Seen: oncePart}, nil }))
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External, ambit.Destructive} {
		v.add(effect.String(), effect, ambit.ApprovalUnset)
	}
	return v
}

func copied(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	return err
}

// secret is what calls say: the part that no quoting changes, among what it does.
func secret() string { return "\"<é>\\" + secretPart + "\\<é>\"" }

func (v *vault) add(name string, effect ambit.Effect, level ambit.Approval) {
	v.app.Add(ambit.Define(ambit.Spec{
		Name: "vault." + name, Description: "Open the vault.", Effect: effect, Permission: ambit.Authenticated, Approval: level, Expose: ambit.HTTP, RecordInput: true,
	}, func(_ context.Context, in vaultInput) (vaultOutput, error) {
		if in.Code != secret() {
			return vaultOutput{}, ambit.Errorf(ambit.CodeConflict, "The code is not the one.")
		}
		return vaultOutput{Seen: in.Door}, nil
	}).WithPreview(func(_ context.Context, in vaultInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Opens the " + in.Door, Version: "1"}, nil
	}))
}

// call makes a call and notes its answer. It returns its error.
func (v *vault) call(t *testing.T, name, key, confirmation string) *ambit.Error {
	t.Helper()
	ctx, run := v.app.NewRun(t.Context(), ambit.RunOptions{
		Principal: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot", Kind: ambit.KindAgent}, Surface: ambit.HTTP,
	})
	if name == "vault.destructive" { // which an agent cannot confirm
		run.End()
		ctx, run = v.app.NewRun(t.Context(), ambit.RunOptions{Principal: &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "bob"}, Surface: ambit.HTTP})
	}
	defer run.End()
	input, err := json.Marshal(vaultInput{Door: openPart, Code: secret()})
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Invoke(ctx, ambit.Request{Name: name, Input: input, IdempotencyKey: key, Confirmation: confirmation, Reason: "to look"})
	failure, ok := errors.AsType[*ambit.Error](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	answer, err := json.Marshal([...]any{result.Output, failure, fmt.Sprintf("%+v", failure)})
	if err == nil {
		_, err = fmt.Fprintf(way{v, "answers"}, "%s: %s\n", name, answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return failure
}

// done makes a call twice, which has to be done.
func (v *vault) done(t *testing.T, name, key, confirmation string) {
	t.Helper()
	for range 2 {
		if failure := v.call(t, name, key, confirmation); failure != nil {
			t.Errorf("%s: %v", name, failure)
		}
	}
}

// effects makes calls that need nobody's word.
func (v *vault) effects(t *testing.T) {
	t.Helper()
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External} {
		v.done(t, "vault."+effect.String(), "key-"+effect.String(), "")
	}
}

// confirmed makes a call that its caller confirms.
func (v *vault) confirmed(t *testing.T) {
	t.Helper()
	failure := v.call(t, "vault.destructive", "", "")
	if failure == nil || failure.Approval == nil || failure.Approval.Token == "" {
		t.Fatalf("want a confirmation asked for, got %v", failure)
	}
	v.done(t, "vault.destructive", "", failure.Approval.Token)
}

// approved makes calls that a person decides: one is approved, one denied.
func (v *vault) approved(t *testing.T) {
	t.Helper()
	for _, verdict := range []approval.Verdict{approval.Approve, approval.Deny} {
		key := "key-" + verdict.String()
		v.decide(t, "vault.human", key, verdict)
		if verdict == approval.Approve {
			v.done(t, "vault.human", key, "")
		} else if failure := v.call(t, "vault.human", key, ""); failure == nil || failure.Code != ambit.CodeApprovalDenied {
			t.Errorf("want the call denied, got %v", failure)
		}
	}
}

// decide makes a call that waits for a person, who decides. It returns the id of the
// proposal.
func (v *vault) decide(t *testing.T, name, key string, verdict approval.Verdict) (id string) {
	t.Helper()
	failure := v.call(t, name, key, "")
	if failure == nil || failure.Code != ambit.CodeApprovalPending || failure.Approval == nil {
		t.Fatalf("want the call to wait for a person, got %v", failure)
	}
	id = failure.Approval.ID
	ann := &ambit.Principal{Tenant: "acme", Authority: "login", Subject: "ann", Permissions: []string{ambit.DefaultDecidePermission}}
	view, err := v.approvals.View(t.Context(), v.app, ann, id)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(view.Review)
	if err == nil {
		_, err = fmt.Fprintf(way{v, "shown"}, "%s\n%s\n", view, shown)
	}
	if err == nil {
		_, err = v.approvals.Decide(t.Context(), v.app, ann, approval.Ruling{ID: id, Verdict: verdict, Preview: view.Seen(), Reason: "seen"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// once makes a call whose outcome must not be kept, opens what was kept of it, and
// finds a receipt.
func (v *vault) once(t *testing.T) {
	t.Helper()
	id := v.decide(t, "vault.once", "key-once", approval.Approve)
	if failure := v.call(t, "vault.once", "key-once", ""); failure != nil {
		t.Fatalf("vault.once: %v", failure)
	}
	for _, key := range []string{"key-once", ""} {
		if failure := v.call(t, "vault.once", key, ""); failure == nil || failure.Receipt == nil || failure.Receipt.Proposal != id {
			t.Errorf("vault.once, repeated with the key %q: want a receipt, got %v", key, failure)
		}
	}
	r, err := v.store.Get(t.Context(), "acme", id)
	if err != nil {
		t.Fatal(err)
	}
	operation := r.Proposal.Binding.Operation()
	kept, err := v.keys.Sealer("outcome", "vault").Open(nil, r.Outcome, operation[:])
	if err != nil || reads(kept, oncePart) || !reads(kept, id) {
		t.Errorf("want a receipt kept and nothing of the outcome, got %s, %v", kept, err)
	}
}

// reads reports whether a text has a part in it that is letters and digits: as it
// is, which is also how any quoting has it, or as a part of something in base64 or in
// hexadecimal.
func reads(text []byte, part string) bool {
	for form := range forms(part) {
		if bytes.Contains(text, []byte(form)) {
			return true
		}
	}
	lower := bytes.ToLower(text)
	return bytes.Contains(lower, []byte(hex.EncodeToString([]byte(part))))
}

// forms returns a part as it is, and as it is in base64 wherever it begins there.
func forms(part string) map[string]bool {
	all := map[string]bool{part: true}
	for before := range 3 {
		padded := append(bytes.Repeat([]byte{0}, before), part...)
		first := (before*8 + 5) / 6 // the first character that says nothing of what is before
		last := len(padded) * 8 / 6 // and those that say nothing of what is after
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all[encoding.EncodeToString(padded)[first:last]] = true
		}
	}
	return all
}
