package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Lives is a store that several processes open, some of which are killed.
type Lives struct {
	// Address is what Open is given: a path, a URL.
	Address string
	// Open opens the store in a process, and closes it.
	Open func(ctx context.Context, address string) (s ApprovalsAndAudit, closed func(), err error)
	// Advance sets the clock of a store that Open returned ahead.
	Advance func(s ApprovalsAndAudit, by time.Duration)
	// Gone waits until the store has ended what a process had it do that was killed.
	// Nil: nothing goes on without its process.
	Gone func(ctx context.Context, process int) error
}

// ApprovalsAndAudit is what one object of a store is.
type ApprovalsAndAudit interface {
	approval.Store
	audit.Store
}

// The environment of a child: the store's address, and the file that its calls
// leave a line in.
const (
	childAddress = "AMBIT_STORETEST_ADDRESS"
	childJournal = "AMBIT_STORETEST_JOURNAL"
)

// What a child is told at a point where it waits.
const (
	goOn   = "go on"
	lapsed = "a lease has lapsed"
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

// live makes the calls that it is told, one after the other, each with all that
// belongs to it. It says what it is about to do and what it has done, and waits
// to be told to go on.
func live(l Lives) (err error) {
	ctx := context.Background()
	store, closed, err := l.Open(ctx, os.Getenv(childAddress))
	if err != nil {
		return err
	}
	defer closed()
	orders, ahead := bufio.NewScanner(os.Stdin), time.Duration(0)
	at := func(point string) {
		fmt.Println("at", point)
		if !orders.Scan() { // the test is gone
			os.Exit(1)
		}
		if orders.Text() == lapsed {
			l.Advance(store, workLease)
			ahead += workLease
		}
	}
	w, err := newWorks(&stepped{store, at}, os.Getenv(childJournal), at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close(ctx)) }()
	for orders.Scan() {
		j, clock, err := parseOrder(orders.Text())
		if err != nil {
			return err
		}
		l.Advance(store, clock-ahead)
		ahead = clock
		failure := w.carryOut(ctx, j, "")
		fmt.Println("ended", answerOf(failure))
	}
	return orders.Err()
}

// order tells a child to make a call, by which clock.
func order(j job, ahead time.Duration) string { return fmt.Sprint(j, " ", ahead) }

func parseOrder(text string) (j job, ahead time.Duration, err error) {
	words := strings.Fields(text)
	if len(words) != 3 {
		return job{}, 0, fmt.Errorf("no order: %q", text)
	}
	all := kinds()
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == words[0] })
	if i < 0 {
		return job{}, 0, fmt.Errorf("no kind of call: %q", text)
	}
	j.kind = all[i]
	if j.number, err = strconv.Atoi(words[1]); err != nil {
		return job{}, 0, err
	}
	ahead, err = time.ParseDuration(words[2])
	return j, ahead, err
}

// answerOf is what a call was answered, in a line.
func answerOf(failure *ambit.Error) string {
	if failure == nil {
		return "done"
	}
	return fmt.Sprintf("%s, executed: %s, %q", failure.Code, failure.Executed, failure.Message)
}

// stepped is a store that tells before and after what it does. It pays no heed to how
// long a call may take for that, since it waits for the test meanwhile.
type stepped struct {
	ApprovalsAndAudit
	at func(point string)
}

// Propose prepares.
func (s *stepped) Propose(ctx context.Context, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) (approval.Record, bool, error) {
	s.at("before prepare")
	r, created, err := s.ApprovalsAndAudit.Propose(context.WithoutCancel(ctx), id, p, caps, e)
	s.at("after prepare")
	return r, created, err
}

// Decide keeps a decision.
func (s *stepped) Decide(ctx context.Context, tenant, id string, d approval.Decision, e *audit.Entry) (approval.Record, bool, error) {
	s.at("before decision of " + d.Name)
	r, changed, err := s.ApprovalsAndAudit.Decide(context.WithoutCancel(ctx), tenant, id, d, e)
	s.at("after decision of " + d.Name)
	return r, changed, err
}

// Claim makes the claim of a write.
func (s *stepped) Claim(ctx context.Context, c ambit.Claim) (ambit.Record, error) {
	s.at("before claim")
	r, err := s.ApprovalsAndAudit.Claim(context.WithoutCancel(ctx), c)
	s.at("after claim")
	return r, err
}

// ClaimWith makes the claim of what goes on record before.
func (s *stepped) ClaimWith(ctx context.Context, c ambit.Claim, e audit.Entry) (ambit.Record, error) {
	s.at("before claim")
	r, err := s.ApprovalsAndAudit.ClaimWith(context.WithoutCancel(ctx), c, e)
	s.at("after claim")
	return r, err
}

// FinishWith keeps an outcome.
func (s *stepped) FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e audit.Entry) error {
	s.at("before finish")
	err := s.ApprovalsAndAudit.FinishWith(context.WithoutCancel(ctx), c, ending, e)
	s.at("after finish")
	return err
}

// child is such a process, as the test sees it.
type child struct {
	process *exec.Cmd
	orders  io.WriteCloser
	said    strings.Builder // what it wrote as errors, complete when it has ended
	state   childState
	ended   bool
}

// childState is what a child is doing.
type childState int

const (
	idle     childState = iota
	atWork              // makes a call
	prepared            // holds a confirmation, and waits to use it
	told                // that the call is running, and waits to repeat it
	dead
)

// heard is a line that a child has written, or that it has ended.
type heard struct {
	from  *child
	line  string
	ended bool
	err   error // how it has ended
}

// startChild starts a process, whose lines come by a channel.
func startChild(ctx context.Context, l Lives, journal string, lines chan<- heard) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{process: exec.CommandContext(ctx, program)}
	c.process.Env = append(os.Environ(), childAddress+"="+l.Address, childJournal+"="+journal)
	c.process.Stderr = &c.said
	if c.orders, err = c.process.StdinPipe(); err != nil {
		return nil, err
	}
	points, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	go func() {
		for text := bufio.NewScanner(points); text.Scan(); {
			lines <- heard{from: c, line: text.Text()}
		}
		lines <- heard{from: c, ended: true, err: c.process.Wait()}
	}()
	return c, nil
}

// tell writes an order. A child that has died does not hear it.
func (c *child) tell(order string) { _, _ = io.WriteString(c.orders, order+"\n") }

// kill kills the process as the system would, with no word to it.
func (c *child) kill() {
	c.state = dead
	_ = c.process.Process.Kill()
}
