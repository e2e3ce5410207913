package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// misused is the error of a command that was not given what it takes.
func misused(c *cobra.Command, err error) error {
	return &ambit.Error{
		Code: ambit.CodeInvalidInput, Message: "Usage: " + err.Error() + ".",
		Hint: fmt.Sprintf("See %q.", c.CommandPath()+" --help"),
	}
}

// withoutOption is the error of a command for which the program was given nothing: the
// developers are told where it goes.
func withoutOption(message, option string) error {
	return &ambit.Error{Code: ambit.CodeInvalidInput, Message: message, Hint: "Its developers have to set command.Options." + option + "."}
}

// report writes what went wrong and returns the exit code: an error object in
// one line, or plain text for what kept the application from starting.
func report(w io.Writer, name string, err error) int {
	if err == nil {
		return 0
	}
	e, ok := errors.AsType[*ambit.Error](err)
	if !ok && errors.Is(err, context.Canceled) {
		e, ok = ambit.ErrorFrom(err, ambit.ErrorOptions{}), true
	}
	if ok {
		if text, err := json.Marshal(e); err == nil {
			_, _ = fmt.Fprintf(w, "%s\n", visible.JSON(text)) // with nowhere to say it, the exit code does
			return e.Code.ExitCode()
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(err.Error(), "\t", "  ")) {
		_, _ = fmt.Fprintf(w, "%s: %s\n", name, visible.Text(strings.TrimSuffix(line, "\n")))
	}
	return 1
}
