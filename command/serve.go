package command

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
)

// defaultAddress is reached from this machine alone.
const defaultAddress = "127.0.0.1:8080"

func (p Program) serveCommand() *cobra.Command {
	var address string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve HTTP and MCP",
		Long: "Serve HTTP and MCP on one address until interrupted.\n\n" +
			"Standard error first has a table of all capabilities, then one line that begins with \"listening\" and\n" +
			"names the address and what is served there, as name=value.",
		Args: arguments(0, 0),
		RunE: p.run(func(c *cobra.Command, _ []string, app *ambit.App, options Options) error {
			return serveApp(c, address, app, options)
		}),
	}
	c.Flags().StringVar(&address, "addr", defaultAddress, "`HOST:PORT` to listen on; port 0 takes a free one")
	addHaltFile(c)
	return c
}

// serveApp serves until the command's context ends.
func serveApp(c *cobra.Command, address string, app *ambit.App, all Options) error {
	options := all.Serve
	ready := options.Ready
	options.Ready = func(bound net.Addr) {
		announce(c.ErrOrStderr(), bound, app, options)
		if ready != nil {
			ready(bound)
		}
	}
	all.warnUnproved(app)
	defer haltOnSignal(app)()
	err := serve.ListenAndServe(c.Context(), address, app, options)
	if failure, ok := errors.AsType[*net.OpError](err); ok && failure.Op == "listen" {
		return fmt.Errorf("%w: choose another address with --addr HOST:PORT", err)
	}
	return err
}
