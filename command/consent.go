package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

// prompterOf returns who answers for the calls of a command: the person at its
// terminal, --yes, or nobody (nil). Standard input that holds the INPUT holds no
// answers.
func prompterOf(c *cobra.Command, status *statusLine, readsInput, yes bool) ambit.Prompter {
	var person ambit.Prompter
	if !readsInput {
		if at := newConsole(c.InOrStdin(), c.ErrOrStderr(), status); at != nil {
			person = at
		}
	}
	if yes {
		return &advance{out: c.ErrOrStderr(), status: status, person: person}
	}
	return person
}

// advance is a yes that was given before the question was known. What the
// application's monitor has against a call takes a person's word about that very
// call, so that is asked where there is somebody to ask.
type advance struct {
	out    io.Writer
	status *statusLine
	person ambit.Prompter // nil: nobody is there
}

// Ask shows what is run.
func (a *advance) Ask(ctx context.Context, q ambit.Question) (ambit.Answer, error) {
	switch {
	case q.Concern != "" && a.person != nil:
		return a.person.Ask(ctx, q)
	case q.Concern != "":
		return ambit.Deny, errors.New("command: --yes does not answer what the monitor has against a call")
	}
	a.status.clear()
	if _, err := io.WriteString(a.out, q.String()+"Run, because of --yes.\n"); err != nil {
		return ambit.Deny, err
	}
	return ambit.Allow, nil
}
