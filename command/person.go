package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// human returns the person that --as names, for a command that only persons have:
// those who decide, and those who read the record. For everybody else there is
// nothing. Where the application asks for it, they have shown who they are.
func (o Options) human(c *cobra.Command, as string) (*ambit.Principal, error) {
	if o.Principals == nil {
		return nil, noPersons()
	}
	person, err := o.principal(c.Context(), as)
	switch {
	case err != nil:
		return nil, err
	case person.Kind != ambit.KindUser:
		return nil, ambit.Errorf(ambit.CodeNotFound, "There is nothing here for callers of the kind %s.", person.Kind).
			WithHint("This is for persons: name one by --as.")
	case o.Prove == nil:
		return person, nil
	}
	at, err := personAt(c, "Whoever this is done for has to show who they are")
	if err != nil {
		return nil, err
	}
	err = o.Prove(c.Context(), person, func(prompt string) (string, error) { return at.ask(c.Context(), visible.Text(prompt)) })
	if err != nil {
		return nil, err
	}
	return person, nil
}

// noPersons is the answer of a command that only persons have, where the command line
// knows none: neither with --as nor without could anybody have it.
func noPersons() error {
	return withoutOption("This is for persons, and this program's command line knows no names for them.", "Principals")
}

// takenAtTheirWord is what a person is told, in a line, who decides without having
// shown who they are; "" where they have.
func (o Options) takenAtTheirWord(person *ambit.Principal) string {
	if o.Prove != nil {
		return ""
	}
	return fmt.Sprintf("That you are %s is taken at its word: this program asks for no proof.\n", visible.Text(person.Subject))
}

// warnUnproved tells the operator, in the log of a program that serves, that its
// command line takes persons at their word.
func (o Options) warnUnproved(app *ambit.App) {
	if o.Prove != nil || o.Principals == nil {
		return
	}
	var can []string
	if o.Approvals != nil && app.CanReview() == nil {
		can = append(can, "decides about proposals")
	}
	if o.Audit != nil {
		can = append(can, "reads the audit record")
	}
	if len(can) > 0 {
		app.Logger().Warn("whoever can start this program " + strings.Join(can, " and ") + " as any person that --as names, and nobody asks for proof: set command.Options.Prove")
	}
}
