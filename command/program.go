package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

// Program is an application that is built once its own flags are known. [Main]
// and [Run] are the short form for one that has none.
type Program struct {
	// Name is what the command is called in its help. Empty: the name of the
	// executable file.
	Name string
	// Flags are the application's own flags, which stand before or after every
	// command. A name that a command has already is refused. Nil: none.
	Flags *flag.FlagSet
	// Open builds the application. It is called once, after the flags are
	// parsed, and not at all for help. Required.
	Open func(ctx context.Context) (*ambit.App, Options, error)
}

// Main runs the command line with the arguments of the process and ends the
// process, see [Main].
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs the command line and returns the exit code, see [Run].
func (p Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if p.Name == "" {
		p.Name = strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	}
	root := p.commands()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := p.addFlags(root)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	return report(stderr, p.Name, err)
}

// commands returns the command without arguments, which serves, and below it
// the others.
func (p Program) commands() *cobra.Command {
	root := p.serveCommand()
	root.Use = p.Name
	root.Short = "Serve the application, or call it"
	root.Long = "Without a command, " + p.Name + " serves."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misused(c, err) })
	root.AddCommand(p.serveCommand(), p.mcpCommand(), p.listCommand(), p.whoamiCommand(), p.callCommand(), p.keyCommand(), p.agentCommand(), p.haltCommand(), p.haltsCommand(), p.resumeCommand(), p.auditCommand(), p.approvalsCommand(), p.grantsCommand())
	return root
}

// addFlags adds the application's own flags to every command.
func (p Program) addFlags(root *cobra.Command) (err error) {
	if p.Flags == nil {
		return nil
	}
	taken := func(f *flag.Flag) bool { return f.Name == "help" || f.Name == "h" || hasFlag(root, f.Name) }
	p.Flags.VisitAll(func(f *flag.Flag) {
		if taken(f) {
			err = errors.Join(err, fmt.Errorf("command: Program.Flags: --%s is a flag of a command already: choose another name", f.Name))
		}
	})
	root.PersistentFlags().AddGoFlagSet(p.Flags)
	return err
}

// hasFlag reports whether one of the commands below has a flag.
func hasFlag(parent *cobra.Command, name string) bool {
	for _, c := range parent.Commands() {
		if c.Flags().Lookup(name) != nil || hasFlag(c, name) {
			return true
		}
	}
	return false
}

// run makes a command of what it does with the application, ready for calls.
func (p Program) run(do func(c *cobra.Command, args []string, app *ambit.App, options Options) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return p.open(c, func(app *ambit.App, options Options) error {
			if err := obeyHalts(c, app, options); err != nil {
				return err
			}
			if err := app.Freeze(); err != nil {
				return err
			}
			return do(c, args, app, options)
		})
	}
}

// open does something with the application and closes it.
func (p Program) open(c *cobra.Command, do func(*ambit.App, Options) error) (err error) {
	if p.Open == nil {
		return errors.New("command: Program.Open is missing")
	}
	app, options, err := p.Open(c.Context())
	if err != nil {
		return err
	}
	if options.Close != nil {
		defer func() {
			if closing := options.Close(); err == nil && closing != nil {
				err = fmt.Errorf("closing the application: %w", closing)
			}
		}()
	}
	if app == nil {
		return errors.New("command: Program.Open gave no application")
	}
	return do(app, options)
}

// arguments refuses a number of arguments that a command does not take.
func arguments(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case !c.HasParent() && len(args) > 0:
			return misused(c, fmt.Errorf("there is no command %q", args[0]))
		case len(args) < least:
			return misused(c, fmt.Errorf("an argument is missing: %s", c.UseLine()))
		case len(args) > most:
			return misused(c, fmt.Errorf("%q is an argument too many: %s", args[most], c.UseLine()))
		}
		return nil
	}
}
