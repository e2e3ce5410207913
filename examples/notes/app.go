package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// name is the application's, which goes into what its keys seal.
const name = "notes"

// newApp joins the contracts to the store. What persons allow, what was done once
// and the record of both are in the database of the notes.
func newApp(s *store.Store, o ambit.Options) *ambit.App {
	o.Name, o.Title, o.Version = name, "Notes", "1.0.0"
	o.Instructions = "A notebook. Find notes with notes_search, read one with notes_get. " +
		"To change one, give the version that you have read."
	o.ImpliedScopes = map[string][]string{"notes:write": {"notes:read"}} // of access tokens: who may write may read
	o.DestructiveOverMCP = true
	o.Middleware = []ambit.Middleware{s.Transaction()}
	app := ambit.New(o)
	app.Add(
		notes.Search.Bind(s.Search),
		notes.Get.Bind(s.Get),
		notes.Create.Bind(s.Create),
		notes.Update.Bind(s.Update),
		notes.Tag.Bind(s.Tag),
		notes.Import.Bind(s.Import),
		notes.Export.Bind(s.Export),
		notes.Purge.Bind(s.Purge).WithPreview(s.PreviewPurge),
		notes.Publish.Bind(s.Publish).WithPreview(s.PreviewPublish),
		notes.Published.Bind(s.Published),
	)
	return app
}

// newApprovals keeps what persons allow, each decision with its entry in the audit
// record. The record's checkpoints are in a file of their own; where it matters, put
// that where those who can write to the database cannot.
func newApprovals(f flags, s *store.Store, ring *ambit.KeyRing) (*audit.Log, *approval.Approvals, error) {
	log, err := audit.New(s.Kept().Ledger, audit.Options{
		Keys: ring, Application: name, Checkpoints: audit.CheckpointFile(f.checkpoints()),
	})
	if err != nil {
		return nil, nil, err
	}
	approvals, err := approval.New(s.Kept().Ledger, approval.Options{Audit: log, URL: f.page(), LongestGrant: 30 * 24 * time.Hour})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return log, approvals, nil
}

// mountPage serves the approvals page, and a login for development, where the
// process has the keys to decide.
func mountPage(o *serve.Options, f flags, app *ambit.App, approvals *approval.Approvals, holders *apikey.Authenticator, notices io.Writer) {
	if app.CanReview() != nil {
		o.Ready = func(net.Addr) {
			ready(notices, "approvals page="+f.page()+" of another process: this one has no key that opens proposals\n")
		}
		return
	}
	people := newLogin(app, holders.Principal)
	o.Wrap = func(next http.Handler) http.Handler {
		page, err := approval.NewPage(app, approvals, approval.PageOptions{Login: people.who, SignIn: people.signIn, SignOut: "/logout"})
		if err != nil {
			app.Logger().Error(err.Error())
			return nil // which keeps the application from starting
		}
		mux := http.NewServeMux()
		mux.Handle("/login", people)
		mux.HandleFunc("POST /logout", people.out)
		mux.Handle("/", page.Wrap(next))
		return mux
	}
	o.Ready = func(bound net.Addr) {
		said := fmt.Sprintf("approvals page=%s code=%s (a login for development: give the name of a key and this code)\n", f.page(), people.code)
		if here := hereOf(bound); f.publicURL == "" && f.approvalsURL == "" && here != f.url() {
			said = "approvals page=none, since it would be at " + f.url() + " and nowhere else: to have it here, add --public-url " + here + "\n"
		}
		ready(notices, said)
	}
}

// ready says what an operator wants to know of a server.
func ready(notices io.Writer, said string) {
	slog.SetLogLoggerLevel(slog.LevelInfo)
	_, _ = io.WriteString(notices, said) // a server whose standard error is gone still serves
}

// hereOf is the URL by which this machine reaches what listens there.
func hereOf(bound net.Addr) string {
	if tcp, ok := bound.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", tcp.Port)
	}
	return "http://" + bound.String()
}
