package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/plural"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/audit"
)

// entryWriter writes entries in a line each that is safe to show: all of it as JSON,
// or what a person looks for first.
func entryWriter(w io.Writer, asJSON bool) func(audit.Entry) error {
	line := entryLine
	if asJSON {
		line = func(e audit.Entry) string { return string(visible.JSON(e.AppendJSON(nil))) }
	}
	return func(e audit.Entry) error {
		_, err := fmt.Fprintf(w, "%s\n", line(e))
		return err
	}
}

// entryLine says when, who, what and what came of it, and last, quoted, why in
// somebody's words.
func entryLine(e audit.Entry) string {
	r, err := e.Record()
	came := cameOf(&r)
	if err != nil {
		came = "cannot be read: audit verify finds out why"
	}
	cell := func(text string) string {
		if text == "" {
			return "-"
		}
		return visible.Text(text)
	}
	text := fmt.Sprintf("%s  %-8s  %-22s  %-22s  %s", e.Time.UTC().Format(time.RFC3339), cell(e.Kind), cell(principalkey.Name(e.Principal)), cell(e.Capability), visible.Text(came))
	if r.Reason != "" {
		text += ": \"" + visible.Text(r.Reason) + "\""
	}
	return text
}

// cameOf says in a few words what an entry reports.
func cameOf(r *audit.Record) string {
	switch r.Kind {
	case audit.KindIntent:
		return "begins" + by(r)
	case audit.KindProposal:
		return "asks for what takes " + r.Level + proposalOf(r)
	case audit.KindDecision, audit.KindConsent:
		if r.Grant != "" {
			return r.Verdict + proposalOf(r) + ", by the standing grant " + r.Grant
		}
		return r.Verdict + proposalOf(r)
	case audit.KindGrant:
		text := r.Verdict + " the standing grant " + r.Grant
		if g := r.Granted; g != nil {
			text += fmt.Sprintf(" for %s, %d of %s used, until %s", principalkey.Name(g.To), g.Used, plural.Of(g.Budget, "call"), g.Until.UTC().Format(time.RFC3339))
		}
		return text
	case audit.KindGap:
		if r.Gap != nil {
			return plural.Of(r.Gap.Count(), "call") + " without an entry"
		}
	case audit.KindPrune:
		if r.Pruned != nil {
			return fmt.Sprintf("removed what was before %s, up to entry %d of %s", r.Pruned.Before.UTC().Format(time.RFC3339), r.Pruned.Through, r.Pruned.Writer)
		}
	}
	words := []string{"succeeded"}
	if r.Code != "" {
		words[0] = r.Code
	}
	if r.Replayed {
		words = append(words, "answered from an earlier call")
	}
	if r.Took > 0 {
		words[0] += " in " + (time.Duration(r.Took) * time.Microsecond).String()
	}
	return strings.Join(words, ", ") + by(r)
}

// by says where a call came in, and which agent carried it.
func by(r *audit.Record) string {
	text := ""
	if r.Surface != "" {
		text = ", by " + r.Surface
	}
	if r.Agent != nil {
		text += ", carried by " + r.Agent.URL
	}
	return text
}

func proposalOf(r *audit.Record) string {
	if r.Proposal == "" {
		return ""
	}
	return ", proposal " + r.Proposal
}
