package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

var givenID = regexp.MustCompile(`\b[A-Z2-7]{26}\b`)

// granting runs a command below grants, with a person who types this at the terminal.
// Ids are replaced by ID.
func (s *counter) granting(typed string, args ...string) result {
	s.t.Helper()
	got := s.at(newTerminal(typed), newTerminal(""), "ID", append([]string{"grants"}, args...)...)
	got.Stdout, got.Stderr = givenID.ReplaceAllString(got.Stdout, "ID"), givenID.ReplaceAllString(got.Stderr, "ID")
	return got
}

// theGrant returns the id of the one grant that there is.
func (s *counter) theGrant() string {
	s.t.Helper()
	var stdout bytes.Buffer
	s.program.Run(s.t.Context(), []string{"grants", "list", "--all", "--json", "--as", "boss"}, strings.NewReader(""), &stdout, new(bytes.Buffer))
	var list []struct{ ID string }
	if err := json.Unmarshal(stdout.Bytes(), &list); err != nil || len(list) != 1 {
		s.t.Fatalf("want one grant, got %s, %v", stdout.String(), err)
	}
	return list[0].ID
}

const sellers = "0:/5:login/seller"

// giving are the arguments of a grant for the seller's sales of ropes.
func giving(edits ...string) []string {
	args := []string{
		"give", "sell", sellers, "--as", "boss", "--input", `{"properties": {"item": {"const": "r\u043epe"}}, "required": ["item"]}`, "--for", "7d", "--calls", "2",
		"--reason", "the nightly sale\u202e",
	}
	for i := 0; i+1 < len(edits); i += 2 {
		for j, arg := range args {
			if arg == edits[i] {
				args[j+1] = edits[i+1]
			}
		}
	}
	return args
}

const offered = `Sell an item (sell, external)
Description: Sells.
For calls of: seller (login), 0:/5:login/seller
Client: none
Agent: none verified
With an input that satisfies: {
  "properties": {
    "item": {
      "const": "r\u043epe"
    }
  },
  "required": [
    "item"
  ]
}
Can be anything: pin
Calls: 2
Until: TIME (7 days left)
Counts as: the approval of boss
Permission: approvals:decide
Reason: the nightly sale
` + takenAtWord + `Allow this in advance? [y]es / [n]o: `

// Whoever may decide allows calls in advance, at a terminal, having seen all of it;
// the calls run, and revoking it ends that.
func TestT20_GrantsAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	args := giving("--reason", "the nightly sale")
	declined := `{"code":"declined","message":"The person who was asked said no.","hint":"Nothing was decided."}` + "\n"
	if diff := cmp.Diff(result{5, "", offered + declined}, s.granting("n\n", args...)); diff != "" {
		t.Errorf("no (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(result{0, "ID\n", offered}, s.granting("y\n", args...)); diff != "" {
		t.Errorf("yes (-want +got):\n%s", diff)
	}
	id := s.theGrant()
	s.sells("first", "")

	const head = "ID                          STATE  CAPABILITY  FOR                UNTIL                 USED    GIVEN BY  REASON\n"
	want := result{0, head + "ID  live   sell        0:/5:login/seller  TIME  1 of 2  boss      the nightly sale\n", ""}
	if diff := cmp.Diff(want, s.granting("", "list", "--as", "boss")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	kept := strings.NewReplacer(
		"Description: Sells.\n", "Description: Sells.\nStanding grant: ID, live\n", "Calls: 2", "Calls: 2, 1 used",
		"Reason: the nightly sale\n"+takenAtWord+"Allow this in advance? [y]es / [n]o: ", "Given by boss, TIME: \"the nightly sale\"\n",
	).Replace(offered)
	if diff := cmp.Diff(result{0, kept, ""}, s.granting("", "show", id, "--as", "boss")); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(result{0, "revoked\n", kept + strings.Replace(takenAtWord, "boss", "seller", 1) + "Revoke this? [y]es / [n]o: "}, s.granting("yes\n", "revoke", id, "--as", "seller", "--reason", "enough")); diff != "" {
		t.Errorf("revoke (-want +got):\n%s", diff)
	}
	if got := s.granting("", "show", id, "--as", "boss"); !strings.Contains(got.Stdout, "Standing grant: ID, revoked\n") || !strings.Contains(got.Stdout, "Revoked by seller, TIME: \"enough\"\n") {
		t.Errorf("show what is revoked: got %+v", got)
	}
	if got := s.granting("yes\n", "revoke", id, "--as", "seller"); got.Code != 5 || !strings.Contains(got.Stderr, "This grant is revoked.") {
		t.Errorf("revoke once more: got %+v", got)
	}
	if got := s.granting("", "list", "--as", "boss"); got.Stderr != "there is none live that boss may decide about; --all lists those as well that have ended\n" {
		t.Errorf("list of live ones: got %+v", got)
	}
	s.sells("second", ambit.CodeApprovalPending)
}

// sells makes a sale under a key, and checks what becomes of it.
func (s *counter) sells(key string, want ambit.Code) {
	s.t.Helper()
	ctx, run := s.app.NewRun(s.t.Context(), ambit.RunOptions{Principal: s.seller, Surface: ambit.HTTP})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: "sell", Input: []byte(`{"item":"r\u043epe"}`), IdempotencyKey: key})
	if got := ambit.CodeOf(err); got != want {
		s.t.Errorf("a sale: want %q, got %q", want, got)
	}
}

// What is no grant is refused before anybody is asked.
func TestT20_GrantsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		code int
		want string // part of standard error
	}{
		{"no such capability", []string{"give", "buy", sellers, "--as", "boss", "--input", "{}", "--for", "1h", "--calls", "1", "--reason", "x"}, 4, `The command list shows which there are.`},
		{"no key of a caller", []string{"give", "sell", "seller", "--as", "boss", "--input", "{}", "--for", "1h", "--calls", "1", "--reason", "x"}, 2, "The command whoami writes the key of a caller."},
		{"somebody without the permission", giving("--as", "clerk"), 3, "You may not decide about calls of sell."},
		{"an agent", giving("--as", "robot"), 4, "not_found"},
		{"no schema", giving("--input", ""), 2, "{} allows any."},
		{"a schema of another thing", giving("--input", `{"properties":{"itme":{"const":"rope"}}}`), 2, "itme"},
		{"a schema that is none", giving("--input", `{"propertys":{}}`), 2, "This is no JSON Schema of an input: "},
		{"a file that is not there", giving("--input", "@nowhere"), 2, "nowhere"},
		{"too long", giving("--for", "31d"), 2, "A grant holds no longer than 30 days here."},
		{"no time", giving("--for", "soon"), 2, "is no time"},
		{"no calls", giving("--calls", "0"), 2, "The number of calls"},
		{"no reason", giving("--reason", ""), 2, "The reason is missing."},
		{"a reason of two lines", giving("--reason", "a\nb"), 2, "The reason has to be one line of text."},
		{"a flag that is missing", []string{"give", "sell", sellers, "--as", "boss"}, 2, "--input is missing"},
		{"four eyes for oneself", []string{"give", "give", sellers, "--as", "seller", "--input", "{}", "--for", "1h", "--calls", "1", "--reason", "x"}, 2, "another pair of eyes"},
		{"nothing to show", []string{"show", "X", "--as", "boss"}, 4, "There is no such grant."},
		{"nothing to revoke", []string{"revoke", "X", "--as", "boss"}, 4, "There is no such grant."},
		{"no command", nil, 2, "give, list, show or revoke"},
	} {
		s := newCounter(t)
		got := s.granting("yes\n", test.args...)
		if got.Code != test.code || got.Stdout != "" || !strings.Contains(got.Stderr, test.want) || strings.Contains(got.Stderr, "[y]es") {
			t.Errorf("%s: want %d and %q, got %+v", test.name, test.code, test.want, got)
		}
	}
}

// Without a terminal nobody grants and nobody revokes, whoever --as names.
func TestT12_GrantsTakeATerminal(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.granting("y\n", giving("--reason", "nightly")...)
	id := s.theGrant()
	for what, args := range map[string][]string{"Allowing calls in advance": giving(), "Taking a standing grant back": {"revoke", id, "--as", "boss"}} {
		got := s.at(strings.NewReader("yes\n"), new(bytes.Buffer), "ID", append([]string{"grants"}, args...)...)
		want := result{5, "", `{"code":"declined","message":"` + what + ` takes a person, and there is no terminal to ask on.","hint":"Run the command on a terminal."}` + "\n"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if g, err := s.store.Grant(t.Context(), "", id); err != nil || g.State(time.Now()) != "live" {
		t.Errorf("want the grant as it was, got %+v, %v", g, err)
	}
}

// An application can have the person prove who they are, before they are shown
// anything.
func TestT12_GrantsProof(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.prove = codeOf
	const asked = "Code of boss: "
	wrong := result{3, "", asked + `{"code":"forbidden","message":"The code is not right."}` + "\n"}
	for _, args := range [][]string{giving(), {"list", "--as", "boss"}, {"show", "X", "--as", "boss"}, {"revoke", "X", "--as", "boss"}} {
		if diff := cmp.Diff(wrong, s.granting("guess\ny\n", args...)); diff != "" {
			t.Errorf("%v with a wrong code (-want +got):\n%s", args, diff)
		}
	}
	right := result{0, "ID\n", asked + strings.Replace(offered, takenAtWord, "", 1)}
	if diff := cmp.Diff(right, s.granting("code of boss\ny\n", giving("--reason", "the nightly sale")...)); diff != "" {
		t.Errorf("with the right code (-want +got):\n%s", diff)
	}
}

// Whoever reads the record sees what was granted to whom, and what a grant decided.
func TestT22_GrantsInTheRecord(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	keys, err := ambit.ParseKeyRing(ambit.NewKey())
	s.must(err)
	log, err := audit.New(s.store, audit.Options{Keys: keys, Application: "counter", Logger: slog.New(slog.DiscardHandler)})
	s.must(err)
	approvals, err := approval.New(s.store, approval.Options{Audit: log, LongestGrant: time.Hour, Logger: slog.New(slog.DiscardHandler)})
	s.must(err)
	reader := &ambit.Principal{Authority: "login", Subject: "reader", Permissions: []string{command.PermissionReadAudit}, Unscoped: true}
	app := ambit.New(ambit.Options{Name: "counter", Keys: keys, Approver: approvals, Logger: slog.New(slog.DiscardHandler)})
	app.Add(ambit.Define(ambit.Spec{Name: "sell", Description: "Sells.", Effect: ambit.External, Permission: "sell", Expose: ambit.HTTP, Approval: ambit.Human},
		func(context.Context, sale) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	g, err := approvals.Give(t.Context(), app, s.seller, approval.Grant{
		Capability: "sell", Principal: sellers, Input: json.RawMessage("{}"), Until: time.Now().Add(time.Minute), Budget: 1, Given: approval.Decision{Reason: "one rope"},
	})
	s.must(err)
	s.app = app
	s.sells("first", "")
	_, err = approvals.RevokeGrant(t.Context(), app, s.seller, g.ID, "")
	s.must(err)
	s.must(log.Flush(t.Context()))
	program := command.Program{Name: "counter", Open: func(context.Context) (*ambit.App, command.Options, error) {
		return app, command.Options{Principals: command.Named(map[string]*ambit.Principal{"reader": reader}), Audit: log, Close: log.Close}, nil
	}}
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), []string{"audit", "search", "--as", "reader"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("audit search: %d, %s", code, stderr.String())
	}
	got := aTime.ReplaceAllString(givenID.ReplaceAllString(strings.ReplaceAll(stdout.String(), g.ID, "GRANT"), "ID"), "TIME")
	for _, want := range []string{
		"TIME  grant     seller (login)          sell                    give the standing grant GRANT for seller (login), 0 of 1 call used, until TIME: \"one rope\"\n",
		"TIME  decision  seller (login)          sell                    approve, proposal ID, by the standing grant GRANT: \"one rope\"\n",
		"TIME  grant     seller (login)          sell                    revoke the standing grant GRANT for seller (login), 1 of 1 call used, until TIME\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}
