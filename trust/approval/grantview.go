package approval

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
)

// GrantView is a grant as a person is shown it who gives or revokes it.
type GrantView struct {
	// Grant is the grant.
	Grant Grant
	// Title, Description and Effect are the capability's; Title is its name where it
	// has none. Description and Effect are empty where there is no such capability
	// any more.
	Title, Description string
	Effect             ambit.Effect
	// Level is whose word a call can take, and Quorum how many persons', of whom the
	// granter is one.
	Level  ambit.Approval
	Quorum int
	// Changed says that the capability is no longer what it was when the grant was
	// given, so that the grant approves nothing any more.
	Changed bool
	// Free are the members of an input that the grant does not hold to anything;
	// Optional those that it does, where they are there, and that a call can leave
	// out; Partial those of whose text it says by a pattern what it contains, and not
	// what it is. Names within others have these in front, as in "filter/folder", and
	// "*" stands for every element, or any other member.
	Free, Optional, Partial []string
}

func grantView(app *ambit.App, g Grant) GrantView {
	v := GrantView{Grant: g, Title: g.Capability, Changed: true}
	if terms, ok := app.Terms(g.Capability); ok {
		spec := terms.Contract.Spec()
		v.Description, v.Effect, v.Level, v.Quorum, v.Changed = spec.Description, spec.Effect, terms.Level, max(spec.Quorum, 1), terms.Hash != g.Contract
		if spec.Title != "" {
			v.Title = spec.Title
		}
		l := looseOf(g.Input, terms.Contract)
		v.Free, v.Optional, v.Partial = l.free, l.optional, l.partial
	}
	return v
}

// String returns all of it for a person to read at a terminal. Characters that a
// screen would obey rather than show are escaped.
func (v GrantView) String() string {
	var b strings.Builder
	g, now := &v.Grant, time.Now()
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, visible.Text(value))
		}
	}
	effect := ""
	if v.Effect != 0 {
		effect = ", " + v.Effect.String()
	}
	fmt.Fprintf(&b, "%s (%s%s)\n", visible.Text(v.Title), visible.Text(g.Capability), effect)
	line("Description", v.Description)
	if g.ID != "" {
		line("Standing grant", g.ID+", "+string(g.State(now)))
	}
	if v.Changed {
		b.WriteString("The capability is no longer what it was when this was given: nothing is approved by it any more.\n")
	}
	line("For calls of", principalkey.Name(g.Principal)+", "+g.Principal)
	line("Tenant", g.Tenant)
	line("Client", orNone(g.Client, "none"))
	line("Agent", orNone(g.Agent, "none verified"))
	fmt.Fprintf(&b, "With an input that satisfies: %s\n", visible.JSON(indented(g.Input)))
	line("Can be anything", strings.Join(v.Free, ", "))
	line("Can be left out", strings.Join(v.Optional, ", "))
	line("Can have more before or after what the pattern says", strings.Join(v.Partial, ", "))
	calls := strconv.Itoa(g.Budget)
	if g.ID != "" {
		calls += ", " + strconv.Itoa(g.Used) + " used"
	}
	line("Calls", calls)
	left := ""
	if g.State(now) == GrantLive {
		left = " (" + remaining(g.Until.Sub(now)) + ")"
	}
	line("Until", moment(g.Until)+left)
	line("Counts as", "the approval of "+g.Given.Name+v.beside())
	line("Permission", g.DecidePermission)
	if g.Given.At.IsZero() {
		line("Reason", g.Given.Reason)
		return b.String()
	}
	fmt.Fprintf(&b, "Given by %s, %s: \"%s\"\n", visible.Text(g.Given.Name), moment(g.Given.At), visible.Text(g.Given.Reason))
	if !g.Revoked.At.IsZero() {
		b.WriteString(shownDecision{
			Said: "Revoked", Who: visible.Text(g.Revoked.Name), When: moment(g.Revoked.At), Reason: visible.Text(g.Revoked.Reason),
		}.String() + "\n")
	}
	return b.String()
}

// beside says what a call takes beside the grant.
func (v GrantView) beside() string {
	text := ""
	if v.Quorum > 1 {
		text = "; a call takes " + strconv.Itoa(v.Quorum) + " persons"
	}
	if v.Level == ambit.FourEyes {
		text += "; not for calls of those who share a person with them"
	}
	return text
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// spanOf writes a length of time for people.
func spanOf(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 1 && d%(24*time.Hour) == 0 {
		return strconv.Itoa(int(days)) + " days"
	}
	return d.String()
}
