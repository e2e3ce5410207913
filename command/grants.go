package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/approval"
)

// grantsCommand holds the commands by which a person allows calls in advance.
func (p Program) grantsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "grants",
		Short: "Allow calls in advance, look at what is allowed, and take it back",
		Long: "Allow calls in advance that would wait for a person, look at what is allowed, and take it back, as the person that\n" +
			"--as names, who has to hold what deciding about such a call takes.\n\n" +
			"Only a person grants and revokes: what it is about is shown on the terminal, and asked about.",
		Args: arguments(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return misused(c, errors.New("what to do with standing grants is missing: give, list, show or revoke"))
		},
	}
	c.AddCommand(p.grantsGiveCommand(), p.grantsListCommand(), p.grantsShowCommand(), p.grantsRevokeCommand())
	return c
}

func (p Program) grantsGiveCommand() *cobra.Command {
	var as, input string
	var g approval.Grant
	var lasts lifetime
	c := &cobra.Command{
		Use:   "give CAPABILITY PRINCIPAL --input SCHEMA --for TIME --calls NUMBER --reason LINE",
		Short: "Allow calls in advance",
		Long: "Allow calls of a capability by a principal in advance: a call whose complete input satisfies SCHEMA, which is\n" +
			"JSON Schema, is approved by the person's word as soon as it asks for it. PRINCIPAL is a key as whoami writes it.\n\n" +
			"SCHEMA is JSON text, @FILE for the content of a file; {} is any input. Members that it does not name are free\n" +
			"unless it has \"additionalProperties\": false, and those that it does can be left out unless they are \"required\": both\n" +
			"is said in words. It is shown to whoever may decide, so it must not hold a secret.\n\n" +
			"It shows the grant on the terminal and asks.",
		Args: arguments(2, 2),
		RunE: p.withApprovals(&as, func(c *cobra.Command, args []string, d decider) error {
			for _, name := range []string{"input", "for", "calls", "reason"} {
				if !c.Flags().Changed(name) {
					return misused(c, fmt.Errorf("--%s is missing", name))
				}
			}
			text, err := readInput(c, input)
			if err != nil {
				return err
			}
			g.Capability, g.Principal, g.Input, g.Until = args[0], args[1], text, lasts.from(time.Now())
			return d.give(c, g)
		}),
	}
	addAs(c, &as)
	c.Flags().StringVar(&input, "input", "", "`SCHEMA` of the inputs that are allowed")
	c.Flags().Var(&lasts, "for", "`TIME` from now until the grant ends, such as 12h or 7d")
	c.Flags().IntVar(&g.Budget, "calls", 0, "`NUMBER` of calls that the grant approves")
	c.Flags().StringVar(&g.Client, "client", "", "`CLIENT` that the caller's credential has to name (default: it names none)")
	c.Flags().StringVar(&g.Agent, "agent", "", "`URL` of the verified agent that has to carry the calls (default: none carries them)")
	c.Flags().StringVar(&g.Given.Reason, "reason", "", "why, in a `LINE` for the record")
	return c
}

// give shows the grant to the person at the terminal, asks, and keeps it.
func (d decider) give(c *cobra.Command, g approval.Grant) error {
	person, err := personAt(c, "Allowing calls in advance takes a person")
	if err != nil {
		return err
	}
	view, err := d.approvals.CheckGrant(c.Context(), d.app, d.person, g)
	if err != nil {
		return err
	}
	if err := d.ask(c.Context(), person, view, "Allow this in advance?"); err != nil {
		return err
	}
	if g, err = d.approvals.Give(c.Context(), d.app, d.person, g); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), g.ID)
	return err
}

func (p Program) grantsListCommand() *cobra.Command {
	var as string
	var f approval.GrantFilter
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List standing grants, the newest first",
		Long: "List the standing grants that the person may revoke, the newest first: those that are live, or all that are kept.\n" +
			"Where there are more, the last line on standard error says how to go on.",
		Args: arguments(0, 0),
		RunE: p.withApprovals(&as, func(c *cobra.Command, _ []string, d decider) error {
			f.Live = !all
			page, next, err := d.approvals.Grants(c.Context(), d.app, d.person, f)
			if err != nil {
				return err
			}
			if err := writeGrants(c.OutOrStdout(), page, asJSON); err != nil {
				return err
			}
			if len(page) == 0 && next == "" {
				said := "there is none that %s may decide about\n"
				if !all {
					said = "there is none live that %s may decide about; --all lists those as well that have ended\n"
				}
				_, err = fmt.Fprintf(c.ErrOrStderr(), said, visible.Text(d.person.Subject))
			}
			return errors.Join(err, writeNext(c, next))
		}),
	}
	addAs(c, &as)
	c.Flags().BoolVar(&all, "all", false, "list those as well that approve nothing any more")
	c.Flags().BoolVar(&asJSON, "json", false, "write a JSON array")
	c.Flags().StringVar(&f.Capability, "capability", "", "list those for this `CAPABILITY`")
	c.Flags().StringVar(&f.Principal, "principal", "", "list those for the principal of this `KEY`, as whoami writes it")
	c.Flags().StringVar(&f.After, "after", "", "go on behind this `CURSOR`")
	return c
}

// listedGrant is one grant in a listing.
type listedGrant struct {
	ID         string              `json:"id"`
	State      approval.GrantState `json:"state"`
	Capability string              `json:"capability"`
	Principal  string              `json:"principal"`
	Client     string              `json:"client,omitempty"`
	Agent      string              `json:"agent,omitempty"`
	Input      json.RawMessage     `json:"input"`
	Until      time.Time           `json:"until"`
	Calls      int                 `json:"calls"`
	Used       int                 `json:"used"`
	GivenBy    string              `json:"givenBy"`
	Given      time.Time           `json:"given"`
	Reason     string              `json:"reason"`
	RevokedBy  string              `json:"revokedBy,omitempty"`
	Revoked    time.Time           `json:"revoked,omitzero"`
}

// writeGrants writes grants as a table for people, or as a JSON array.
func writeGrants(w io.Writer, page []approval.Grant, asJSON bool) error {
	now := time.Now()
	if asJSON {
		list := make([]listedGrant, len(page))
		for i, g := range page {
			list[i] = listedGrant{
				g.ID, g.State(now), g.Capability, g.Principal, g.Client, g.Agent, g.Input, g.Until, g.Budget, g.Used,
				g.Given.Decider, g.Given.At, g.Given.Reason, g.Revoked.Decider, g.Revoked.At,
			}
		}
		text, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("writing the grants: %w", err)
		}
		return writeJSON(w, text)
	}
	rows := [][]string{{"ID", "STATE", "CAPABILITY", "FOR", "UNTIL", "USED", "GIVEN BY", "REASON"}}
	for _, g := range page {
		rows = append(rows, []string{
			g.ID, string(g.State(now)), g.Capability, g.Principal, g.Until.UTC().Format(time.RFC3339), strconv.Itoa(g.Used) + " of " + strconv.Itoa(g.Budget),
			g.Given.Name, g.Given.Reason,
		})
	}
	return columns(w, rows)
}

func (p Program) grantsShowCommand() *cobra.Command {
	return p.showCommand("Show a standing grant", "Show a standing grant: which calls it allows, of whom and until when, how many are used, and who gave it and why.", func(c *cobra.Command, id string, d decider) (fmt.Stringer, error) {
		return d.approvals.Grant(c.Context(), d.app, d.person, id)
	})
}

func (p Program) grantsRevokeCommand() *cobra.Command {
	var as, reason string
	c := &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a standing grant back",
		Long: "Take a standing grant back, for all calls that have not begun: the next one sees it, and what the grant has approved\n" +
			"is revoked with it.\n\n" +
			"It shows the grant on the terminal and asks.",
		Args: arguments(1, 1),
		RunE: p.withApprovals(&as, func(c *cobra.Command, args []string, d decider) error {
			person, err := personAt(c, "Taking a standing grant back takes a person")
			if err != nil {
				return err
			}
			view, err := d.approvals.Grant(c.Context(), d.app, d.person, args[0])
			if err != nil {
				return err
			}
			if err := d.ask(c.Context(), person, view, "Revoke this?"); err != nil {
				return err
			}
			g, err := d.approvals.RevokeGrant(c.Context(), d.app, d.person, args[0], reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), g.State(time.Now()))
			return err
		}),
	}
	addAs(c, &as)
	c.Flags().StringVar(&reason, "reason", "", "why, in a `LINE` for the record, which the requesters of revoked calls see")
	return c
}
