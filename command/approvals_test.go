package command_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/store/memory"
	"github.com/ambit-dev/ambit/trust/approval"
)

// counter is a program whose sales wait for a person, and the person at its
// terminal.
type counter struct {
	t       *testing.T
	program command.Program
	app     *ambit.App
	store   *memory.Store
	seller  *ambit.Principal
	prove   func(context.Context, *ambit.Principal, func(string) (string, error)) error
}

type sale struct {
	Item string `json:"item"`
	Pin  string `json:"pin,omitempty" secret:"true"`
}

// newDecidedProgram is that program in a process of its own, in which nothing
// waits.
func newDecidedProgram() command.Program {
	return command.Program{Name: "decided", Open: func(ctx context.Context) (*ambit.App, command.Options, error) {
		s, err := openCounter()
		if err != nil {
			return nil, command.Options{}, err
		}
		return s.program.Open(ctx)
	}}
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	s, err := openCounter()
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	return s
}

func openCounter() (*counter, error) {
	quiet := slog.New(slog.DiscardHandler)
	person := func(name string, permissions ...string) *ambit.Principal {
		return &ambit.Principal{Authority: "login", Subject: name, Permissions: append(permissions, "sell"), Unscoped: true}
	}
	s := &counter{store: memory.New(), seller: person("seller", "approvals:decide")}
	robot := person("robot", "approvals:decide")
	robot.Kind = ambit.KindAgent
	principals := map[string]*ambit.Principal{"seller": s.seller, "boss": person("boss", "approvals:decide"), "clerk": person("clerk"), "robot": robot}
	approvals, err := approval.New(s.store, approval.Options{Logger: quiet, LongestGrant: 30 * 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	keys, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{7}, ambit.MinKey)})
	if err != nil {
		return nil, err
	}
	s.app = ambit.New(ambit.Options{Name: "counter", Keys: keys, Approver: approvals, Logger: quiet})
	sell := func(context.Context, sale) (ambit.Empty, error) { return ambit.Empty{}, nil }
	preview := func(_ context.Context, in sale) (ambit.Preview, error) {
		return ambit.Preview{
			Summary: "Sell the " + in.Item, Items: []ambit.PreviewItem{{ID: "i-1", Title: "Rope\x1b[2J", Change: "sold"}}, More: 2, Version: "7",
			Data: map[string]any{"price": 12},
		}, nil
	}
	s.app.Add(
		ambit.Define(ambit.Spec{Name: "sell", Title: "Sell an item", Description: "Sells.", Effect: ambit.External, Permission: "sell", Expose: ambit.HTTP, Approval: ambit.Human}, sell).WithPreview(preview),
		ambit.Define(ambit.Spec{Name: "give", Description: "Gives.", Effect: ambit.External, Permission: "sell", Expose: ambit.HTTP, Approval: ambit.FourEyes}, sell),
	)
	s.program = command.Program{Name: "counter", Open: func(context.Context) (*ambit.App, command.Options, error) {
		return s.app, command.Options{Principals: command.Named(principals), Approvals: approvals, Prove: s.prove}, nil
	}}
	return s, nil
}

func (s *counter) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// ask asks for a sale and returns the proposal's id.
func (s *counter) ask(capability, input string) string {
	s.t.Helper()
	ctx, run := s.app.NewRun(s.t.Context(), ambit.RunOptions{Principal: s.seller, Surface: ambit.HTTP})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: capability, Input: []byte(input), Reason: "the \u202ecustomer waits"})
	failure, ok := errors.AsType[*ambit.Error](err)
	if !ok || failure.Approval == nil {
		s.t.Fatalf("want a call that waits, got %v", err)
	}
	return failure.Approval.ID
}

var aTime = regexp.MustCompile(`\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d:\d\d UTC|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// at runs a command with these streams. Ids are replaced by ID, and times by
// TIME.
func (s *counter) at(stdin io.Reader, screen interface {
	io.Writer
	String() string
}, id string, args ...string,
) result {
	s.t.Helper()
	var stdout bytes.Buffer
	if args[0] != "grants" {
		args = append([]string{"approvals"}, args...)
	}
	code := s.program.Run(s.t.Context(), args, stdin, &stdout, screen)
	even := func(text string) string { return aTime.ReplaceAllString(strings.ReplaceAll(text, id, "ID"), "TIME") }
	return result{code, even(stdout.String()), even(screen.String())}
}

func (s *counter) typed(line, id string, args ...string) result {
	s.t.Helper()
	return s.at(newTerminal(line), newTerminal(""), id, args...)
}

const shownSale = `Sell an item (sell, external): pending
Proposal: ID
Requested by: seller (user, vouched for by login)
Came by: the HTTP API
Agent: none verified
Asked: TIME
Needs: a person who approves
Decide by: TIME (24 h left)
Input: {
  "item": "p\u0430ypal rope\u202e",
  "pin": "(secret)"
}
Would change: Sell the p\u0430ypal rope\u202e
  - Rope\u001b[2J [i-1]: sold
  and 2 more
Version: 7
More: {
  "price": 12
}
The caller says: "the \u202ecustomer waits"
`

// takenAtWord is what somebody is told who decides and has not been asked for proof.
const takenAtWord = "That you are boss is taken at its word: this program asks for no proof.\n"

const hostileSale = `{"item":"p` + "\u0430" + `ypal rope` + "\u202e" + `","pin":"1234"}`

func TestT12_ApprovalsAtTheTerminal(t *testing.T) {
	t.Parallel()
	declined := func(message, hint string) string {
		return `{"code":"declined","message":"` + message + `","hint":"` + hint + `"}` + "\n"
	}
	for _, test := range []struct {
		name, typed string
		args        []string
		want        result
		state       string
	}{
		{"yes", "y\n", []string{"approve", "ID", "--as", "boss", "--reason", "fine"}, result{0, "approved\n", shownSale + takenAtWord + "Approve this? [y]es / [n]o: "}, "approved"},
		{"no", "n\n", []string{"approve", "ID", "--as", "boss"}, result{5, "", shownSale + takenAtWord + "Approve this? [y]es / [n]o: " + declined("The person who was asked said no.", "Nothing was decided.")}, "pending"},
		{"the end of the input", "", []string{"approve", "ID", "--as", "boss"}, result{5, "", shownSale + takenAtWord + "Approve this? [y]es / [n]o: \n" + declined("The person who was asked said no.", "Nothing was decided.")}, "pending"},
		{"a denial", "yes\n", []string{"deny", "ID", "--as", "boss"}, result{0, "denied\n", shownSale + takenAtWord + "Deny this? [y]es / [n]o: "}, "denied"},
		{"taken back", "yes\n", []string{"revoke", "ID", "--as", "seller"}, result{0, "revoked\n", shownSale + strings.Replace(takenAtWord, "boss", "seller", 1) + "Revoke this? [y]es / [n]o: "}, "revoked"},
		{"nothing to settle", "yes\n", []string{"settle", "ID", "failed", "--as", "boss"}, result{
			5, "", `{"code":"conflict","message":"This proposal waits to be decided.","hint":"Look at the proposal as it is now."}` + "\n",
		}, "pending"},
		{"somebody without the permission", "yes\n", []string{"approve", "ID", "--as", "clerk"}, result{
			3, "", `{"code":"forbidden","message":"You may not decide this.","hint":"Somebody decides who holds the permission for it."}` + "\n",
		}, "pending"},
		{"an agent", "yes\n", []string{"approve", "ID", "--as", "robot"}, result{
			4, "", `{"code":"not_found","message":"There is nothing here for callers of the kind agent.","hint":"This is for persons: name one by --as."}` + "\n",
		}, "pending"},
		{"another proposal", "yes\n", []string{"approve", "nothing", "--as", "boss"}, result{4, "", `{"code":"not_found","message":"There is no such proposal."}` + "\n"}, "pending"},
	} {
		s := newCounter(t)
		id := s.ask("sell", hostileSale)
		for i, arg := range test.args {
			if arg == "ID" {
				test.args[i] = id
			}
		}
		if diff := cmp.Diff(test.want, s.typed(test.typed, id, test.args...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		r, err := s.store.Get(t.Context(), "", id)
		s.must(err)
		if got := r.State.String(); test.state != got {
			t.Errorf("%s: want it %s, got %s", test.name, test.state, got)
		}
	}
}

// Without a terminal nobody decides, and whoever may decide can look.
func TestT12_ApprovalsTakeATerminal(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	id := s.ask("sell", hostileSale)
	for _, args := range [][]string{{"approve", id}, {"deny", id}, {"revoke", id}, {"settle", id, "succeeded"}} {
		got := s.at(strings.NewReader("yes\n"), new(bytes.Buffer), id, append(args, "--as", "boss")...)
		want := result{5, "", `{"code":"declined","message":"Deciding about a proposal takes a person, and there is no terminal to ask on.","hint":"Run the command on a terminal."}` + "\n"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", args, diff)
		}
	}
	look := func(args ...string) result {
		return s.at(strings.NewReader(""), new(bytes.Buffer), id, args...)
	}
	if diff := cmp.Diff(result{0, shownSale, ""}, look("show", id, "--as", "boss")); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	const head = "ID                          STATE    TITLE         EFFECT    NEEDS  REQUESTED BY  ASKED                 SUMMARY\n"
	list := look("list", "--as", "boss")
	want := result{0, head + "ID  pending  Sell an item  external  human  seller        TIME  Sell the p\\u0430ypal rope\\u202e\n", ""}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if got := look("list", "--as", "boss", "--state", "denied,approved"); got.Code != 0 || strings.Contains(got.Stdout, "Sell") || got.Stderr != "there is none of these states that boss may decide about\n" {
		t.Errorf("list of other states: got %+v", got)
	}
	if got := look("list", "--as", "clerk"); got.Code != 0 || strings.Contains(got.Stdout, "Sell") || got.Stderr != "there is none of these states that clerk may decide about\n" {
		t.Errorf("list for somebody without the permission: got %+v", got)
	}
	if got := look("list", "--as", "robot"); got.Code != 4 {
		t.Errorf("list for an agent: want 4, got %+v", got)
	}
}

// Who asked for what takes four eyes is refused before being asked.
func TestT13_ApprovalsFourEyes(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	id := s.ask("give", `{"item":"rope"}`)
	want := result{3, "", `{"code":"forbidden","message":"This takes another pair of eyes: whoever asked for it is you, or one of you acts for the other, or both for one person.","hint":"Ask somebody else who may decide."}` + "\n"}
	if diff := cmp.Diff(want, s.typed("y\n", id, "approve", id, "--as", "seller")); diff != "" {
		t.Errorf("the requester (-want +got):\n%s", diff)
	}
	if got := s.typed("y\n", id, "approve", id, "--as", "boss"); got.Code != 0 || got.Stdout != "approved\n" {
		t.Errorf("somebody else: got %+v", got)
	}
}

// codeOf is a proof: a code that only its person knows.
func codeOf(_ context.Context, person *ambit.Principal, ask func(string) (string, error)) error {
	code, err := ask("Code of " + person.Subject + ": ")
	if err == nil && code != "code of "+person.Subject {
		err = ambit.Errorf(ambit.CodeForbidden, "The code is not right.")
	}
	return err
}

// An application can have the person prove who they are, before they are shown
// anything.
func TestT12_ApprovalsProof(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.prove = codeOf
	id := s.ask("sell", hostileSale)
	const asked = "Code of boss: "
	wrong := result{3, "", asked + `{"code":"forbidden","message":"The code is not right."}` + "\n"}
	for _, args := range [][]string{{"list"}, {"show", id}, {"approve", id}, {"settle", id, "failed"}} {
		if diff := cmp.Diff(wrong, s.typed("guess\n", id, append(args, "--as", "boss")...)); diff != "" {
			t.Errorf("%v with a wrong code (-want +got):\n%s", args, diff)
		}
		got := s.at(strings.NewReader("code of boss\n"), new(bytes.Buffer), id, append(args, "--as", "boss")...)
		if want := (result{5, "", `{"code":"declined","message":"Whoever this is done for has to show who they are, and there is no terminal to ask on.","hint":"Run the command on a terminal."}` + "\n"}); want != got {
			t.Errorf("%v without a terminal (-want +got):\n%s", args, cmp.Diff(want, got))
		}
	}
	if diff := cmp.Diff(result{0, shownSale, asked}, s.typed("code of boss\n", id, "show", id, "--as", "boss")); diff != "" {
		t.Errorf("show with the right code (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(result{0, "approved\n", asked + shownSale + "Approve this? [y]es / [n]o: "}, s.typed("code of boss\ny\n", id, "approve", id, "--as", "boss")); diff != "" {
		t.Errorf("approve with the right code (-want +got):\n%s", diff)
	}
}
