package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

func (p Program) mcpCommand() *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Speak MCP over standard input and output",
		Long:  "Speak the Model Context Protocol over standard input and output, for an agent that starts this program itself.",
		Args:  arguments(0, 0),
		RunE: p.run(func(c *cobra.Command, _ []string, app *ambit.App, options Options) error {
			principal, err := options.principal(c.Context(), as)
			if err != nil {
				return err
			}
			server, err := mcp.New(app, mcp.Options{Trust: options.Serve.Trust, ElicitURLs: options.Serve.ElicitURLs, SessionsOnly: true})
			if err != nil {
				return err
			}
			for _, notice := range app.Notices() {
				app.Logger().Warn(notice)
			}
			if principal.Anonymous() {
				warnOutOfReach(c.Context(), app)
			}
			options.warnUnproved(app)
			defer haltOnSignal(app)()
			err = watching(c.Context(), app, func() error {
				return server.ServeStdio(c.Context(), c.InOrStdin(), c.OutOrStdout(), principal)
			})
			if c.Context().Err() != nil {
				return nil // a server that was told to stop has stopped
			}
			return err
		}),
	}
	addAs(c, &as)
	addHaltFile(c)
	return c
}

// addAs adds the flag that says on whose behalf a command works.
func addAs(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "as", "", "`NAME` of the principal on whose behalf to work")
}

// warnOutOfReach tells the operator of a program that speaks for nobody what nobody can
// call.
func warnOutOfReach(ctx context.Context, app *ambit.App) {
	if names := trust.OutOfReach(ctx, app, ambit.MCP); len(names) > 0 {
		app.Logger().Warn("nobody can call " + strings.Join(names, ", ") + " here: a call takes a principal, and this program works on nobody's behalf: set command.Options.Principals, and name one by --as")
	}
}
