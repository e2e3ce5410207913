package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Options say how an application's command line works. With the zero value it
// serves on this machine alone, and calls as an anonymous caller.
type Options struct {
	// Serve is how the serve command serves, and whom it lets in. The mcp
	// command takes over what concerns MCP.
	Serve serve.Options
	// Principals finds the principal that --as names; [Named] makes one from a
	// map. An error ends the command: an *ambit.Error in its own way, any other
	// as a failure to start. Nil: there are no names, and --as is refused.
	Principals func(ctx context.Context, name string) (*ambit.Principal, error)
	// Keys is where the application keeps its API keys, for the commands below
	// key; apikey.FromStore makes the authenticator of the same store, which
	// belongs into Serve, and its Principal method can be Principals. Nil: there is
	// none, and those commands are refused, but for key create, which shows a key
	// and its entry for a file.
	Keys apikey.Store
	// Audit is the application's audit record, for the commands below audit. Nil:
	// there is none, and those commands are refused.
	Audit *audit.Log
	// Approvals are what the application has as its approver, for the commands
	// below approvals and grants. Nil: those are refused.
	Approvals *approval.Approvals
	// Prove lets the person whom --as names show that it is them before a command
	// below approvals, grants or audit does anything for them: ask shows a prompt on the
	// terminal and returns the line that is typed, which can be seen there, so that
	// it is for one-time codes rather than passwords. An error ends the command: an
	// *ambit.Error in its own way, any other is for the operator. Without a terminal
	// nobody can show anything, and those commands are refused; audit verify, which
	// shows no entries and is to run where nobody is, asks for nothing. Nil: whoever
	// can start the program is taken at their word, since they have its files and its
	// keys; whoever decides is told so, and so is the log where the program serves.
	Prove func(ctx context.Context, person *ambit.Principal, ask func(prompt string) (line string, err error)) error
	// Halts is where the application keeps what is halted, for all of its
	// instances: the Halts of its store. The commands serve, mcp and call obey it,
	// halt adds to it, halts shows it and resume releases it. An application that
	// has it here needs it not in its HaltSources, and cannot have both. Its form
	// is not "file". Nil: there is none.
	Halts ambit.HaltSwitch
	// HaltFile is the path of the halt file where neither --halt-file nor
	// AMBIT_HALT_FILE names one: serve, mcp and call obey it, halt adds to it,
	// halts shows it and resume removes it; where there are Halts as well, halt
	// and resume take --form file for it. An application that has it needs no
	// ambit.HaltFile in its HaltSources, and cannot have both. Empty: there is
	// none.
	HaltFile string
	// Close gives back what the application holds, once the command is done,
	// however it went. Nil: there is nothing to give back.
	Close func() error
}

// Named returns an [Options.Principals] that knows the names of a map and no
// others. The map and its principals must not be changed afterwards.
func Named(principals map[string]*ambit.Principal) func(context.Context, string) (*ambit.Principal, error) {
	return func(_ context.Context, name string) (*ambit.Principal, error) {
		if p := principals[name]; p != nil {
			return p, nil
		}
		return nil, &ambit.Error{
			Code: ambit.CodeInvalidInput, Message: fmt.Sprintf("There is no principal %q.", name),
			Hint: "Known are " + strings.Join(slices.Sorted(maps.Keys(principals)), ", ") + ".",
		}
	}
}

// principal returns on whose behalf the command works: whom --as names, or
// nobody in particular where the application knows no callers.
func (o Options) principal(ctx context.Context, name string) (*ambit.Principal, error) {
	switch {
	case name != "" && o.Principals == nil:
		return nil, &ambit.Error{
			Code: ambit.CodeInvalidInput, Message: "This application's command line knows no names for --as.",
			Hint: o.withoutNames(),
		}
	case name != "":
		p, err := o.Principals(ctx, name)
		if err == nil && p == nil {
			err = fmt.Errorf("command.Options.Principals found neither a principal nor an error for %q", name)
		}
		return p, err
	case o.Principals != nil:
		return nil, &ambit.Error{
			Code: ambit.CodeUnauthenticated, Message: "This application knows its callers: say on whose behalf.", Hint: "Add --as NAME.",
		}
	case len(o.Serve.Trust.Authenticators) > 0:
		return nil, &ambit.Error{
			Code: ambit.CodeUnauthenticated, Message: "This application knows its callers, and its command line knows no names for them.",
			Hint: o.withoutNames(),
		}
	}
	return &ambit.Principal{Kind: ambit.KindAnonymous}, nil
}

// withoutNames says what to do where the command line knows no names for callers.
func (o Options) withoutNames() string {
	if len(o.Serve.Trust.Authenticators) > 0 {
		return "Its developers have to give it names, in command.Options.Principals; until then it is called over the network, with a credential."
	}
	return "Leave --as out."
}
