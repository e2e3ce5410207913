package command

import (
	"context"
	"io"

	"github.com/ambit-dev/ambit"
)

// Main runs the command line of an application with the arguments of the
// process, and ends the process with the exit code that fits. It serves unless
// the arguments name another command.
func Main(app *ambit.App, options Options) {
	programOf(app, options).Main()
}

// Run is [Main] with everything that belongs to the process handed in: args are
// the arguments after the program's name. It returns the exit code when the
// command is done or ctx has ended, which a server takes as the sign to stop in
// good order.
func Run(ctx context.Context, app *ambit.App, options Options, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return programOf(app, options).Run(ctx, args, stdin, stdout, stderr)
}

func programOf(app *ambit.App, options Options) Program {
	return Program{
		Name: app.Name(),
		Open: func(context.Context) (*ambit.App, Options, error) { return app, options, nil },
	}
}
