package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// String returns the view for a person to read at a terminal, in the order that
// matters: what would be done and for whom, the complete input, what it would
// change, what persons have said, and last, quoted, what the caller says.
// Characters that a screen would obey rather than show are escaped.
func (v View) String() string {
	var b strings.Builder
	r := &v.Record
	fmt.Fprintf(&b, "%s (%s, %s): %s\n", visible.Text(r.Proposal.Title), visible.Text(r.Proposal.Binding.Capability), r.Proposal.Effect, r.State)
	fmt.Fprintf(&b, "Proposal: %s\n", visible.Text(r.ID))
	for _, f := range facts(&v, time.Now()) {
		switch {
		case f.Name == "Capability": // in the first line
		case f.More != "":
			fmt.Fprintf(&b, "%s: %s (%s)\n", f.Name, f.Value, f.More)
		default:
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	if v.Review != nil {
		if len(v.Review.Input) > 0 {
			fmt.Fprintf(&b, "Input: %s\n", visible.JSON(indented(v.Review.Input)))
		}
		writePreview(&b, strings.TrimPrefix(outlookOf(r), "What "), v.Review.Preview)
	}
	if v.Review != nil && v.Review.Concern != "" {
		fmt.Fprintf(&b, "The application's monitor says: \"%s\"\n", visible.Text(v.Review.Concern))
	}
	if callable(r.State) {
		v.outlook(&b)
	}
	for _, d := range decisions(r, v.about()) {
		b.WriteString(d.String() + "\n")
	}
	for _, earlier := range v.Denied {
		fmt.Fprintf(&b, "Asked for before, on %s:\n", moment(earlier.Created))
		for _, d := range decisions(&earlier, earlier.Proposal.Preview) {
			b.WriteString("  " + d.String() + "\n")
		}
	}
	if r.Proposal.Reason != "" {
		fmt.Fprintf(&b, "The caller says: \"%s\"\n", visible.Text(r.Proposal.Reason))
	}
	return b.String()
}

// outlook writes what stands in the way of a call that could still be made.
func (v View) outlook(b *strings.Builder) {
	if v.Review != nil && v.Review.Status != "" {
		b.WriteString(visible.Text(v.Review.Status) + "\n")
	}
	if v.Obstacle != nil {
		fmt.Fprintf(b, "The call could not be made now: %s\n", visible.Text(v.Obstacle.Message))
	}
	if why := v.Objection(); why != nil {
		b.WriteString(visible.Text(why.Message) + "\n")
	}
}

// writePreview writes a preview under a name such as "would change".
func writePreview(b *strings.Builder, name string, p *ambit.Preview) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "%s: %s\n", strings.ToUpper(name[:1])+name[1:], visible.Text(p.Summary))
	for _, item := range p.Items {
		b.WriteString("  - " + visible.Text(item.Title))
		if item.ID != "" {
			b.WriteString(" [" + visible.Text(item.ID) + "]")
		}
		if item.Change != "" {
			b.WriteString(": " + visible.Text(item.Change))
		}
		b.WriteString("\n")
	}
	if p.More > 0 {
		fmt.Fprintf(b, "  and %d more\n", p.More)
	}
	if p.Version != "" {
		fmt.Fprintf(b, "Version: %s\n", visible.Text(p.Version))
	}
	if data, err := json.MarshalIndent(p.Data, "", "  "); err == nil && len(p.Data) > 0 {
		fmt.Fprintf(b, "More: %s\n", visible.JSON(data))
	}
}

// String is a decision in one line.
func (d shownDecision) String() string {
	line := d.Said + " by " + d.Who + ", " + d.When
	if d.Grant != "" {
		line += ", by the standing grant " + d.Grant
	}
	if d.Reason != "" {
		line += ": \"" + d.Reason + "\""
	}
	return line
}
