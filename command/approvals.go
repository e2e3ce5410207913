package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/approval"
)

// approvalsCommand holds the commands by which a person decides.
func (p Program) approvalsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "approvals",
		Short: "Look at proposals, and decide about them",
		Long: "Look at the proposals that wait for a person, and decide about them, as the person that --as names, who has to\n" +
			"hold what each takes (" + ambit.DefaultDecidePermission + " unless the application says otherwise).\n\n" +
			"Only a person decides: the proposal is shown on the terminal, with its complete input, and asked about.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return misused(c, errors.New("what to do with proposals is missing: list, show, approve, deny, revoke, settle or keygen"))
		},
	}
	c.AddCommand(
		p.approvalsListCommand(), p.approvalsShowCommand(), p.approvalsSettleCommand(),
		p.rulingCommand("approve ID", "Approve a proposal", "Approve a proposal, so that its requester can make the call.", approval.Approve),
		p.rulingCommand("deny ID", "Deny a proposal", "Deny a proposal that waits. One word of this is enough, however many have approved.", approval.Deny),
		p.rulingCommand("revoke ID", "Take a proposal back", "Take a proposal back that is approved, or waits, and has not been executed.", approval.Revoke),
		approvalsKeygenCommand(),
	)
	return c
}

// decider is the person on whose behalf the commands work.
type decider struct {
	app       *ambit.App
	approvals *approval.Approvals
	person    *ambit.Principal
	warning   string // what they are told before they decide, see Options.takenAtTheirWord
}

// withApprovals does something with the approvals of the application as the
// person that --as names.
func (p Program) withApprovals(as *string, do func(c *cobra.Command, args []string, d decider) error) func(*cobra.Command, []string) error {
	return p.run(func(c *cobra.Command, args []string, app *ambit.App, options Options) error {
		switch {
		case options.Approvals == nil:
			return withoutOption("This program keeps no approvals, or does not show them on its command line.", "Approvals")
		case options.Principals == nil:
			return noPersons()
		case *as == "":
			return misused(c, errors.New("who decides is missing: --as NAME"))
		}
		if err := app.CanReview(); err != nil {
			return &ambit.Error{
				Code: ambit.CodeConfirmationUnavailable, Message: "Nobody decides in this program: it has no key that opens proposals.",
				Hint: strings.TrimPrefix(err.Error(), "ambit: ") + ".",
			}
		}
		person, err := options.human(c, *as)
		if err != nil {
			return err
		}
		return do(c, args, decider{app, options.Approvals, person, options.takenAtTheirWord(person)})
	})
}

func (p Program) approvalsListCommand() *cobra.Command {
	var as, after string
	var states []string
	c := &cobra.Command{
		Use:   "list",
		Short: "List proposals, the newest first",
		Long: "List the proposals that the person may decide about, the newest first: those that wait, or those of the states\n" +
			"given. Where there are more, the last line on standard error says how to go on.",
		Args: arguments(0, 0),
		RunE: p.withApprovals(&as, func(c *cobra.Command, _ []string, d decider) error {
			f := approval.Filter{After: after, States: []ambit.ProposalState{ambit.ProposalPending, ambit.ProposalUnknown}}
			if len(states) > 0 {
				var err error
				if f.States, err = parseStates(states); err != nil {
					return misused(c, err)
				}
			}
			page, next, err := d.approvals.List(c.Context(), d.app, d.person, f)
			if err != nil {
				return err
			}
			rows := [][]string{{"ID", "STATE", "TITLE", "EFFECT", "NEEDS", "REQUESTED BY", "ASKED", "SUMMARY"}}
			for _, r := range page {
				rows = append(rows, []string{
					r.ID, r.State.String(), r.Proposal.Title, r.Proposal.Effect.String(), r.Proposal.Level.String(), r.Proposal.Requester.Subject,
					r.Created.UTC().Format(time.RFC3339), d.app.Summary(r.Proposal),
				})
			}
			if err := columns(c.OutOrStdout(), rows); err != nil {
				return err
			}
			if len(page) == 0 && next == "" {
				_, err = fmt.Fprintf(c.ErrOrStderr(), "there is none of these states that %s may decide about\n", visible.Text(d.person.Subject))
			}
			return errors.Join(err, writeNext(c, next))
		}),
	}
	addAs(c, &as)
	c.Flags().StringSliceVar(&states, "state", nil, "`STATE` of the proposals to list, such as approved or denied, or closed for all of which nothing can come any more; may be repeated (default: pending, unknown)")
	c.Flags().StringVar(&after, "after", "", "go on behind this `CURSOR`")
	return c
}

func parseStates(names []string) ([]ambit.ProposalState, error) {
	var known []string
	for s := ambit.ProposalPending; s <= ambit.ProposalUnknown; s++ {
		known = append(known, s.String())
	}
	var states []ambit.ProposalState
	for _, name := range names {
		if name == "closed" {
			states = append(states, approval.ClosedStates()...)
			continue
		}
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("%q is no state: use %s, or closed for all of which nothing can come any more", name, strings.Join(known, ", "))
		}
		states = append(states, ambit.ProposalState(i))
	}
	return states, nil
}

func (p Program) approvalsShowCommand() *cobra.Command {
	return p.showCommand("Show a proposal with its complete input", "Show a proposal: who asks for what, the complete input, what it would change as things are now, and what was said.", func(c *cobra.Command, id string, d decider) (fmt.Stringer, error) {
		return d.approvals.View(c.Context(), d.app, d.person, id)
	})
}

// showCommand shows one thing whole that the person may decide about.
func (p Program) showCommand(short, long string, find func(c *cobra.Command, id string, d decider) (fmt.Stringer, error)) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use: "show ID", Short: short, Long: long, Args: arguments(1, 1),
		RunE: p.withApprovals(&as, func(c *cobra.Command, args []string, d decider) error {
			shown, err := find(c, args[0], d)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), shown)
			return err
		}),
	}
	addAs(c, &as)
	return c
}

// rulingCommand is one verdict.
func (p Program) rulingCommand(use, short, long string, v approval.Verdict) *cobra.Command {
	var as, reason string
	c := &cobra.Command{
		Use: use, Short: short, Long: long + "\n\nIt shows the proposal on the terminal and asks.", Args: arguments(1, 1),
		RunE: p.withApprovals(&as, func(c *cobra.Command, args []string, d decider) error {
			return d.rule(c, approval.Ruling{ID: args[0], Verdict: v, Reason: reason})
		}),
	}
	addAs(c, &as)
	addReason(c, &reason)
	return c
}

func (p Program) approvalsSettleCommand() *cobra.Command {
	var as, reason string
	c := &cobra.Command{
		Use:   "settle ID {succeeded | failed}",
		Short: "Say how a call ended that got lost",
		Long: "Say how a call ended that began and never finished, because its process died: whether it took effect. Until a\n" +
			"person has found out, the call is not made again.\n\n" +
			"It shows the proposal on the terminal and asks.",
		Args: arguments(2, 2),
		RunE: p.withApprovals(&as, func(c *cobra.Command, args []string, d decider) error {
			v, known := map[string]approval.Verdict{"succeeded": approval.SettleSucceeded, "failed": approval.SettleFailed}[args[1]]
			if !known {
				return misused(c, fmt.Errorf("a call cannot have %q: it succeeded or failed", args[1]))
			}
			return d.rule(c, approval.Ruling{ID: args[0], Verdict: v, Reason: reason})
		}),
	}
	addAs(c, &as)
	addReason(c, &reason)
	return c
}

func addReason(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "why, in a `LINE` for the record, which the requester sees where it is denied or revoked")
}

// rule shows the proposal to the person at the terminal, asks, and decides.
func (d decider) rule(c *cobra.Command, ruling approval.Ruling) error {
	person, err := personAt(c, "Deciding about a proposal takes a person")
	if err != nil {
		return err
	}
	view, err := d.approvals.View(c.Context(), d.app, d.person, ruling.ID)
	if err != nil {
		return err
	}
	switch why := view.Against(ruling.Verdict); { // nobody need be asked who cannot say it
	case why != nil:
		return why
	case ruling.Verdict == approval.Approve && view.Obstacle != nil:
		return view.Obstacle
	}
	if err := d.ask(c.Context(), person, view, questionOf(ruling.Verdict)); err != nil {
		return err
	}
	ruling.Preview = view.Seen()
	r, err := d.approvals.Decide(c.Context(), d.app, d.person, ruling)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), r.State)
	return err
}

// ask returns nil where the person was shown what it is about and said yes.
func (d decider) ask(ctx context.Context, person *console, shown fmt.Stringer, question string) error {
	return person.agree(ctx, shown.String()+d.warning+question, "Nothing was decided.")
}

func questionOf(v approval.Verdict) string {
	switch v {
	case approval.Approve:
		return "Approve this?"
	case approval.Deny:
		return "Deny this?"
	case approval.Revoke:
		return "Revoke this?"
	case approval.SettleSucceeded:
		return "Did this take effect?"
	}
	return "Did this not take effect?"
}
