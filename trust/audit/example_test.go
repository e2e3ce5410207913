package audit_test

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/audit"
)

type sendInput struct {
	To string `json:"to" minLength:"1"`
}

// A log over the application's store. The key ring comes from the environment or
// a file, and the store is a database.
func Example() {
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	store, checkpoints := memory.New(), &sink{} // audit.CheckpointFile, on another volume
	log, err := audit.New(store, audit.Options{Keys: keys, Application: "mail", Checkpoints: checkpoints})
	if err != nil {
		fmt.Println(err)
		return
	}
	app := ambit.New(ambit.Options{Name: "mail", Keys: keys, Ledger: log, Modes: map[ambit.Surface]ambit.Mode{ambit.InProcess: ambit.ModeAuto}})
	send := ambit.NewContract[sendInput, ambit.Empty](ambit.Spec{
		Name: "mail.send", Description: "Send a message.", Effect: ambit.External, Permission: ambit.Authenticated, RecordInput: true,
	})
	app.Add(send.Bind(func(context.Context, sendInput) (ambit.Empty, error) { return ambit.Empty{}, nil }))

	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{Principal: &ambit.Principal{Authority: "apikey", Subject: "alice"}})
	_, err = send.Call(ctx, sendInput{To: "bob@mail.example"})
	run.End()
	fmt.Println(err, log.Close())

	page, _, err := store.Entries(context.Background(), audit.Query{})
	for _, e := range page {
		r, _ := e.Record()
		fmt.Println(e.Seq, r.Kind, r.Capability, string(r.Input))
	}
	fmt.Println(err)
	report, err := log.Verify(context.Background(), "", checkpoints.kept)
	fmt.Println(report.Entries, report.Findings, err)
	// Output:
	// <nil> <nil>
	// 1 intent mail.send {"to":"bob@mail.example"}
	// 2 outcome mail.send {"to":"bob@mail.example"}
	// <nil>
	// 2 [] <nil>
}
