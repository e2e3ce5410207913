package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/sqlite"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

type vaultInput struct {
	Door string `json:"door" minLength:"1"`
	Code string `json:"code" secret:"true"`
}

type vaultOutput struct {
	Seen string `json:"seen"`
}

// A secret goes through calls of every effect, keyed, proposed, approved,
// repeated and recorded, and is in none of the files: neither the database nor
// its journal, nor what leaves the store.
func TestT09_NoSecretIsInTheFiles(t *testing.T) {
	t.Parallel()
	const canary, witness = "canary-5150", "front-door"
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{1}, ambit.MinKey)})
	if err != nil {
		t.Fatal(err)
	}
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(logFile, &slog.HandlerOptions{Level: slog.LevelDebug}))
	log, err := audit.New(s, audit.Options{
		Keys: ring, Application: "vault", Checkpoints: audit.CheckpointFile(filepath.Join(dir, "checkpoints")), Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	approvals, err := approval.New(s, approval.Options{Audit: log, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	app := ambit.New(ambit.Options{
		Name: "vault", Keys: ring, Approver: approvals, Ledger: log, Logger: logger, Observers: []ambit.Observer{ambit.LogObserver(logger)},
		Modes: map[ambit.Surface]ambit.Mode{ambit.HTTP: ambit.ModeAuto},
	})
	open := func(_ context.Context, in vaultInput) (vaultOutput, error) {
		if in.Code != canary {
			return vaultOutput{}, ambit.Errorf(ambit.CodeConflict, "The code is not the one.")
		}
		return vaultOutput{Seen: in.Door}, nil
	}
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External, ambit.Destructive} {
		app.Add(ambit.Define(ambit.Spec{
			Name: "vault." + effect.String(), Description: "Open the vault.", Effect: effect, Permission: ambit.Authenticated, Expose: ambit.HTTP, RecordInput: true,
		}, open).WithPreview(func(_ context.Context, in vaultInput) (ambit.Preview, error) {
			return ambit.Preview{Summary: "Opens the " + in.Door, Version: "1"}, nil
		}))
	}
	invoke := func(name, key, confirmation string) (ambit.Result, error) {
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
			Principal: &ambit.Principal{Tenant: "acme", Authority: "apikey", Subject: "robot"}, Surface: ambit.HTTP,
		})
		defer run.End()
		return run.Invoke(ctx, ambit.Request{
			Name: name, Input: fmt.Appendf(nil, `{"door":%q,"code":%q}`, witness, canary), IdempotencyKey: key, Confirmation: confirmation, Reason: "to look",
		})
	}
	for _, effect := range []ambit.Effect{ambit.Read, ambit.Write, ambit.Execute, ambit.External} {
		for range 2 {
			if _, err := invoke("vault."+effect.String(), "key-"+effect.String(), ""); err != nil {
				t.Error(err)
			}
		}
	}
	_, err = invoke("vault.destructive", "", "")
	e, ok := err.(*ambit.Error)
	if !ok || e.Approval == nil || e.Approval.Token == "" {
		t.Fatalf("want a confirmation asked for, got %v", err)
	}
	for range 2 {
		if _, err := invoke("vault.destructive", "", e.Approval.Token); err != nil {
			t.Error(err)
		}
	}
	if err := log.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	found := grep(t, dir, canary, witness) // the journal is there while the store is open
	for _, end := range []func() error{log.Close, s.Close, logFile.Close} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	for name, texts := range grep(t, dir, canary, witness) {
		found[name] = append(found[name], texts...)
	}
	seen := 0
	for name, texts := range found {
		for _, text := range texts {
			if text == canary {
				t.Errorf("the secret is in %s", name)
			} else {
				seen++
			}
		}
	}
	if seen == 0 {
		t.Error("no file has the input at all, so that nothing was tested")
	}
}

// grep returns which of the texts each file of a folder has.
func grep(t *testing.T, dir string, texts ...string) map[string][]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				found[file.Name()] = append(found[file.Name()], text)
			}
		}
	}
	return found
}
