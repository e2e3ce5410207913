package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// kind is what sort of call is made: whose word it takes, and what a process goes
// through to make it.
type kind struct {
	name   string
	effect ambit.Effect
	level  ambit.Approval
	people []string // who decide, in this order
	steps  []step
}

// step is one thing that a process does for a call, and what is left of the call
// once it is done.
type step struct {
	name   string
	leaves remains
}

// remains is what is left of a call: how far its record has come, and how often it
// was executed.
type remains struct {
	state    string
	executed int
}

// nothing is left of a call that nobody has begun.
func nothing() remains { return remains{"none", 0} }

// kinds are all sorts of call that have to happen once.
func kinds() []kind {
	prepare := func() []step { return []step{{"prepare", remains{"pending", 0}}} }
	once := []step{{"claim", remains{"executing", 0}}, {"execute", remains{"executing", 1}}, {"finish", remains{"ended", 1}}}
	return []kind{
		{"confirmed", ambit.Destructive, ambit.Confirm, nil, append(prepare(), once...)},
		{"approved", ambit.Destructive, ambit.Human, []string{"ann"}, append(append(
			prepare(), step{"decision of ann", remains{"approved", 0}}), once...)},
		{"foureyes", ambit.Destructive, ambit.FourEyes, []string{"ann", "bob"}, append(append(
			prepare(), step{"decision of ann", remains{"pending", 0}}, step{"decision of bob", remains{"approved", 0}}), once...)},
		{"write", ambit.Write, ambit.ApprovalUnset, nil, once},
		{"external", ambit.External, ambit.ApprovalUnset, nil, once},
	}
}

// asks reports whether a call of the kind takes somebody's word. Any other has an
// idempotency key and nothing else.
func (k kind) asks() bool { return k.level != ambit.ApprovalUnset }

// job is one call.
type job struct {
	kind   kind
	number int
}

// String returns the line that the call leaves in the journal each time that it is
// executed.
func (j job) String() string { return fmt.Sprint(j.kind.name, " ", j.number) }

// key is the call's idempotency key, "" for every other one that takes somebody's
// word.
func (j job) key() string {
	if j.kind.asks() && j.number%2 == 0 {
		return ""
	}
	return "the-call"
}

// fails reports whether the call fails when it is executed.
func (j job) fails() bool { return j.number%5 == 4 }

// caller is who makes the call: a principal for each.
func (j job) caller() *ambit.Principal {
	return &ambit.Principal{
		Tenant: "works", Authority: "apikey", Subject: j.String(), Kind: ambit.KindService, Permissions: []string{"works:do"},
	}
}

// person is one who decides.
func person(name string) *ambit.Principal {
	return &ambit.Principal{Tenant: "works", Authority: "login", Subject: name, Permissions: []string{ambit.DefaultDecidePermission}}
}

// workTime is how long a call of the works may take, and workLease how long the
// claim of one holds that never ends.
const (
	workTime  = 30 * time.Second
	workLease = workTime + time.Minute
)

// works is an application with a capability of each kind.
type works struct {
	app       *ambit.App
	log       *audit.Log
	approvals *approval.Approvals
	do        map[string]*ambit.Contract[workInput, ambit.Empty]
	at        func(point string)
}

type workInput struct {
	Number int `json:"number"`
}

// newWorks makes the application of one process, which says at each point where
// its calls are, and goes on when at returns.
func newWorks(store ApprovalsAndAudit, journal string, at func(point string)) (*works, error) {
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{3}, ambit.MinKey)})
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	w := &works{do: make(map[string]*ambit.Contract[workInput, ambit.Empty]), at: at}
	if w.log, err = audit.New(store, audit.Options{Keys: ring, Application: "works", Logger: quiet}); err != nil {
		return nil, err
	}
	if w.approvals, err = approval.New(store, approval.Options{Audit: w.log, Logger: quiet}); err != nil {
		return nil, err
	}
	w.app = ambit.New(ambit.Options{Name: "works", Keys: ring, Approver: w.approvals, Ledger: w.log, Logger: quiet})
	for _, k := range kinds() {
		w.do[k.name] = ambit.NewContract[workInput, ambit.Empty](ambit.Spec{
			Name: k.name, Description: "Do it.", Effect: k.effect, Permission: "works:do", Expose: ambit.HTTP,
			Approval: k.level, Quorum: len(k.people), Deadline: workTime, ConfirmWithin: time.Hour,
		})
		w.app.Add(w.do[k.name].Bind(func(_ context.Context, in workInput) (ambit.Empty, error) {
			return ambit.Empty{}, w.execute(journal, job{k, in.Number})
		}))
	}
	return w, nil
}

// execute is what a call does.
func (w *works) execute(journal string, j job) error {
	w.at("before execute")
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, j)
	err = errors.Join(err, file.Close())
	w.at("after execute")
	if j.fails() {
		return errors.Join(err, errors.New("it fails"))
	}
	return err
}

func (w *works) close(ctx context.Context) error {
	return errors.Join(w.approvals.Close(ctx), w.log.Close())
}

// call makes a call once.
func (w *works) call(ctx context.Context, j job, token string) *ambit.Error {
	ctx, run := w.app.NewRun(ctx, ambit.RunOptions{Principal: j.caller(), Surface: ambit.HTTP})
	defer run.End()
	var options []ambit.CallOption
	if key := j.key(); key != "" {
		options = append(options, ambit.WithIdempotencyKey(key))
	}
	if token != "" {
		options = append(options, ambit.WithConfirmation(token))
	}
	_, err := w.do[j.kind.name].Call(ctx, workInput{j.number}, options...)
	return failureOf(err)
}

// failureOf returns an error as the application tells it, nil for none.
func failureOf(err error) *ambit.Error {
	if e, ok := errors.AsType[*ambit.Error](err); ok || err == nil {
		return e
	}
	return &ambit.Error{Code: ambit.CodeInternal, Message: err.Error()}
}

// rule says what a person says about a proposal.
func (w *works) rule(ctx context.Context, who, id string, v approval.Verdict) *ambit.Error {
	view, err := w.approvals.View(ctx, w.app, person(who), id)
	if err == nil {
		_, err = w.approvals.Decide(ctx, w.app, person(who), approval.Ruling{ID: id, Verdict: v, Preview: view.Seen()})
	}
	return failureOf(err)
}

// patience is how often a call is repeated that is unavailable or pending. Each may
// wait five seconds for the store, and all of them end within a lease.
const patience = int(workLease / (5 * time.Second))

// carryOut makes a call until it has ended or nobody can tell whether it has, with
// all the words that it takes. Token is what confirms it, "" where nobody has
// asked yet. It returns what the call is answered then.
func (w *works) carryOut(ctx context.Context, j job, token string) *ambit.Error {
	for unavailable, asked := 0, 0; ; {
		failure := w.call(ctx, j, token)
		switch {
		case failure == nil:
			return nil
		case failure.Code == ambit.CodeUnavailable && unavailable < patience:
			unavailable++
		case failure.Code == ambit.CodeConflict && failure.RetryAfter > 0:
			w.at("running")
		case failure.Code == ambit.CodeConfirmationRequired && token == "" && failure.Approval != nil:
			token = failure.Approval.Token
			w.at("prepared " + token)
		case failure.Code == ambit.CodeApprovalPending && asked < patience && failure.Approval != nil:
			asked++
			for _, who := range j.kind.people {
				said := w.rule(ctx, who, failure.Approval.ID, approval.Approve)
				// Another process may have been faster.
				if said != nil && said.Code != ambit.CodeConflict && said.Code != ambit.CodeUnavailable {
					return said
				}
			}
		default:
			return failure
		}
	}
}

// executions returns how often a call was executed.
func executions(journal string, j job) (times int, err error) {
	text, err := os.ReadFile(journal)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == j.String() {
			times++
		}
	}
	return times, err
}
