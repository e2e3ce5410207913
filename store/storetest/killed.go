package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Lives is a store that processes open one after the other, each of which is
// killed.
type Lives struct {
	// Address is what Open is given: a path, a URL.
	Address string
	// Open opens the store in a process, and closes it.
	Open func(ctx context.Context, address string) (s ApprovalsAndAudit, closed func(), err error)
	// Advance sets the clock of a store that Open returned ahead.
	Advance func(s ApprovalsAndAudit, by time.Duration)
}

// ApprovalsAndAudit is what one object of a store is.
type ApprovalsAndAudit interface {
	approval.Store
	audit.Store
}

// The environment of a child: the store's address, the file that its calls leave
// a line in, and which call is to be made.
const (
	childAddress = "AMBIT_STORETEST_ADDRESS"
	childJournal = "AMBIT_STORETEST_JOURNAL"
	childCall    = "AMBIT_STORETEST_CALL"
)

// Child does the work of the processes that [RunKilled] starts, which are the
// test's own program, and ends them. In any other process it does nothing. It is
// the first thing that a TestMain calls.
func Child(l Lives) {
	if os.Getenv(childAddress) == "" {
		return
	}
	if err := live(l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// live makes one call with all that belongs to it, from the question to its end.
// It says what it is about to do and what it has done, and waits to be told to go
// on.
func live(l Lives) error {
	ctx := context.Background()
	store, closed, err := l.Open(ctx, os.Getenv(childAddress))
	if err != nil {
		return err
	}
	defer closed()
	number, err := strconv.Atoi(os.Getenv(childCall))
	if err != nil {
		return err
	}
	answers := bufio.NewReader(os.Stdin)
	at := func(point string) {
		fmt.Println(point)
		_, _ = answers.ReadString('\n')
	}
	w, err := newWorks(&stepped{store, at}, os.Getenv(childJournal), at)
	if err != nil {
		return err
	}
	if _, err := w.carryOut(ctx, number); err != nil {
		return err
	}
	return w.close(ctx)
}

// stepped is a store that tells before and after what it does.
type stepped struct {
	ApprovalsAndAudit
	at func(point string)
}

func (s *stepped) Propose(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (approval.Record, bool, error) {
	s.at("before prepare")
	r, created, err := s.ApprovalsAndAudit.Propose(ctx, id, p, caps, e)
	s.at("after prepare")
	return r, created, err
}

func (s *stepped) Decide(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (approval.Record, bool, error) {
	s.at("before decide")
	r, changed, err := s.ApprovalsAndAudit.Decide(ctx, tenant, id, d, e)
	s.at("after decide")
	return r, changed, err
}

func (s *stepped) ClaimWith(ctx context.Context, c ambit.Claim, e audit.Entry) (ambit.Record, error) {
	s.at("before claim")
	r, err := s.ApprovalsAndAudit.ClaimWith(ctx, c, e)
	s.at("after claim")
	return r, err
}

func (s *stepped) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	s.at("before finish")
	err := s.ApprovalsAndAudit.FinishWith(ctx, c, ending, e)
	s.at("after finish")
	return err
}

// works is an application with one call that takes a person's word.
type works struct {
	app       *ambit.App
	log       *audit.Log
	approvals *approval.Approvals
	do        *ambit.Contract[workInput, ambit.Empty]
	journal   string
}

type workInput struct {
	Number int `json:"number"`
}

func newWorks(store ApprovalsAndAudit, journal string, at func(string)) (*works, error) {
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{3}, ambit.MinKey)})
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	w := &works{journal: journal}
	if w.log, err = audit.New(store, audit.Options{Keys: ring, Application: "works", Logger: quiet}); err != nil {
		return nil, err
	}
	if w.approvals, err = approval.New(store, approval.Options{Audit: w.log, Logger: quiet}); err != nil {
		return nil, err
	}
	w.app = ambit.New(ambit.Options{Name: "works", Keys: ring, Approver: w.approvals, Ledger: w.log, Logger: quiet})
	w.do = ambit.NewContract[workInput, ambit.Empty](ambit.Spec{
		Name: "do", Description: "Do it.", Effect: ambit.Destructive, Permission: "works:do", Approval: ambit.Human, Expose: ambit.HTTP,
	})
	w.app.Add(w.do.Bind(func(_ context.Context, in workInput) (ambit.Empty, error) {
		at("before execute")
		file, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return ambit.Empty{}, err
		}
		_, err = fmt.Fprintln(file, in.Number)
		err = errors.Join(err, file.Close())
		at("after execute")
		return ambit.Empty{}, err
	}))
	return w, nil
}

func (w *works) close(ctx context.Context) error {
	return errors.Join(w.approvals.Close(ctx), w.log.Close())
}

// robot is who makes a call: a principal for each.
func robot(number int) *ambit.Principal {
	return &ambit.Principal{Tenant: "works", Authority: "apikey", Subject: fmt.Sprint("robot ", number), Kind: ambit.KindAgent, Permissions: []string{"works:do"}}
}

func foreman() *ambit.Principal {
	return &ambit.Principal{Tenant: "works", Authority: "login", Subject: "foreman", Permissions: []string{ambit.DefaultDecidePermission}}
}

// call makes a call once. Every other one has an idempotency key.
func (w *works) call(ctx context.Context, number int) error {
	ctx, run := w.app.NewRun(ctx, ambit.RunOptions{Principal: robot(number), Surface: ambit.HTTP})
	defer run.End()
	var options []ambit.CallOption
	if number%2 == 1 {
		options = append(options, ambit.WithIdempotencyKey("the-call"))
	}
	_, err := w.do.Call(ctx, workInput{number}, options...)
	return err
}

// rule says what a person says about a proposal.
func (w *works) rule(ctx context.Context, id string, v approval.Verdict) error {
	view, err := w.approvals.View(ctx, w.app, foreman(), id)
	if err != nil {
		return err
	}
	_, err = w.approvals.Decide(ctx, w.app, foreman(), approval.Ruling{ID: id, Verdict: v, Preview: view.Seen()})
	return err
}

// carryOut makes a call until it is done or stuck, with the decisions that it
// takes. It returns the error that it is stuck with, if a person has to find out.
func (w *works) carryOut(ctx context.Context, number int) (stuck *ambit.Error, err error) {
	for range 3 {
		err := w.call(ctx, number)
		if err == nil {
			return nil, nil
		}
		failure, ok := errors.AsType[*ambit.Error](err)
		switch {
		case ok && failure.Code == ambit.CodeConflict:
			return failure, nil
		case !ok || failure.Code != ambit.CodeApprovalPending || failure.Approval == nil:
			return nil, fmt.Errorf("call %d: %w", number, err)
		}
		if err := w.rule(ctx, failure.Approval.ID, approval.Approve); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("call %d goes on asking", number)
}

// death is where a process is killed: at a point, or while it does what comes
// after it.
type death struct {
	point string
	while bool
}

// remains is what may be left of a call: its proposal's state, "none" for no
// proposal, and how often it was executed.
type remains struct {
	state    string
	executed int
}

// deaths are all of them, with what may be left.
func deaths() map[death][]remains {
	none, pending, approved := remains{"none", 0}, remains{"pending", 0}, remains{"approved", 0}
	claimed, executed, finished := remains{"executing", 0}, remains{"executing", 1}, remains{"succeeded", 1}
	return map[death][]remains{
		{"before prepare", false}: {none},
		{"before prepare", true}:  {none, pending},
		{"after prepare", false}:  {pending},
		{"before decide", false}:  {pending},
		{"before decide", true}:   {pending, approved},
		{"after decide", false}:   {approved},
		{"before claim", false}:   {approved},
		{"before claim", true}:    {approved, claimed},
		{"after claim", false}:    {claimed},
		{"before execute", false}: {claimed},
		{"before execute", true}:  {claimed, executed},
		{"after execute", false}:  {executed},
		{"before finish", false}:  {executed},
		{"before finish", true}:   {executed, finished},
		{"after finish", false}:   {finished},
	}
}

// RunKilled makes calls in processes of their own, which are killed at each step
// of preparing, deciding, claiming, executing and finishing, a hundred times in
// all. Afterwards no call has run twice and none is lost: each can be carried out,
// or is unknown until a person settles it, or is finished; and the audit record
// is whole. The program's TestMain calls [Child].
func RunKilled(t *testing.T, l Lives) {
	const rounds = 7 // of 15 deaths
	journal := filepath.Join(t.TempDir(), "journal")
	var died []death
	for range rounds {
		for d := range deaths() {
			died = append(died, d)
		}
	}
	if testing.Short() {
		died = died[:len(deaths())]
	}
	for number, d := range died {
		if err := kill(t, l, journal, number, d); err != nil {
			t.Fatalf("killed %s: %v", d.point, err)
		}
	}
	store, closed, err := l.Open(t.Context(), l.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer closed()
	for number, d := range died {
		state, _ := stateOf(t, store, number)
		got := remains{state, executions(t, journal)[number]}
		if !slices.Contains(deaths()[d], got) {
			t.Errorf("killed %s (while it went on: %t): want one of %v left, got %v", d.point, d.while, deaths()[d], got)
		}
	}
	l.Advance(store, 2*time.Minute) // the leases lapse
	w, err := newWorks(store, journal, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	interrupted := 0
	for number := range died {
		interrupted += count(afterlife(t, w, store, number))
	}
	if err := w.close(t.Context()); err != nil {
		t.Error(err)
	}
	report, err := w.log.Verify(t.Context(), "works", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) > 0 || len(report.Open) != interrupted || interrupted == 0 {
		t.Errorf("the audit record is not whole: of %d calls that were interrupted it has %d, findings %v", interrupted, len(report.Open), report.Findings)
	}
}

// kill starts a process that makes a call, and kills it.
func kill(t *testing.T, l Lives, journal string, number int, d death) error {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(t.Context(), program)
	child.Env = append(os.Environ(), childAddress+"="+l.Address, childJournal+"="+journal, childCall+"="+strconv.Itoa(number))
	var said bytes.Buffer
	child.Stderr = &said
	answers, err := child.StdinPipe()
	if err != nil {
		return err
	}
	points, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	reached := false
	for lines := bufio.NewScanner(points); !reached && lines.Scan(); {
		reached = lines.Text() == d.point
		if !reached || d.while {
			_, _ = io.WriteString(answers, "\n")
		}
	}
	if d.while {
		<-time.After(time.Duration(rand.Int64N(int64(3 * time.Millisecond)))) // somewhere in it
	}
	_ = child.Process.Kill() // it may have come to its end
	if err := child.Wait(); !reached {
		return fmt.Errorf("the process did not get there: %w: %s", err, &said)
	}
	return nil
}

// stateOf returns the state of the one proposal of a call, or "none", and its id.
func stateOf(t *testing.T, store approval.Store, number int) (state, id string) {
	t.Helper()
	page, _, err := store.List(t.Context(), approval.Filter{Tenant: "works", Requester: robot(number).Key()})
	if err != nil {
		t.Fatal(err)
	}
	switch len(page) {
	case 0:
		return "none", ""
	case 1:
		return page[0].State.String(), page[0].ID
	}
	return fmt.Sprintf("%d proposals", len(page)), ""
}

// executions returns how often each call was executed.
func executions(t *testing.T, journal string) map[int]int {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[int]int)
	for line := range strings.FieldsSeq(string(text)) {
		number, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		times[number]++
	}
	return times
}

// afterlife carries a call out as those would do whose process has died, and
// settles it where nobody can tell, of which it reports.
func afterlife(t *testing.T, w *works, store approval.Store, number int) (unknown bool) {
	t.Helper()
	before, id := stateOf(t, store, number)
	unknown = before == "unknown"
	stuck, err := w.carryOut(t.Context(), number)
	if err != nil || (stuck != nil) != unknown {
		t.Errorf("a call that was %s: %v, %v", before, stuck, err)
		return unknown
	}
	executed, want := executions(t, w.journal)[number], 1
	if unknown {
		verdict := approval.SettleSucceeded
		if want = executed; executed == 0 {
			verdict = approval.SettleFailed
		}
		if stuck.Executed != ambit.ExecutedUnknown || executed > 1 {
			t.Errorf("a call that was unknown: executed %s, and %d times", stuck.Executed, executed)
		}
		if err := w.rule(t.Context(), id, verdict); err != nil {
			t.Errorf("settle a call that was unknown: %v", err)
		}
	}
	if executed != want {
		t.Errorf("a call that was %s: want it executed %d times in the end, got %d", before, want, executed)
	}
	if state, _ := stateOf(t, store, number); state != "succeeded" && (state != "failed" || want == 1) {
		t.Errorf("a call that was %s is %s in the end", before, state)
	}
	return unknown
}
