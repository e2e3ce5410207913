package ambittest

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/ambit-dev/ambit"
)

// GateTable returns, for a golden file, what the application's gate makes of each
// capability in each mode (allow, ask or block), and whose word answers where it
// asks; and before that the mode of each surface, as a run of an anonymous caller
// has it.
func (h *Host) GateTable() string {
	h.t.Helper()
	var out strings.Builder
	h.writeModes(&out)
	out.WriteString("\n")
	table := newTable(&out)
	table.row("CAPABILITY", "EFFECT", "PLAN", "DEFAULT", "GUARDED", "AUTO", "ANSWERED BY")
	for _, contract := range h.app.Capabilities() {
		spec := contract.Spec()
		cells := []string{spec.Name, spec.Effect.String()}
		asks := false
		var need, ofAgents ambit.Approval
		for mode := ambit.ModePlan; mode <= ambit.ModeAuto; mode++ {
			var decision ambit.Decision
			decision, need = spec.Decide(mode, ambit.InProcess)
			_, ofAgents = spec.Decide(mode, ambit.MCP)
			asks = asks || decision == ambit.DecisionAsk
			cells = append(cells, decision.String())
		}
		switch {
		case !asks:
			cells = append(cells, "-")
		case need != ofAgents:
			cells = append(cells, need.String()+"; for agents "+ofAgents.String())
		default:
			cells = append(cells, need.String())
		}
		table.row(cells...)
	}
	table.end()
	return out.String()
}

func (h *Host) writeModes(out *strings.Builder) {
	h.t.Helper()
	table := newTable(out)
	table.row("SURFACE", "MODE")
	for _, surface := range []ambit.Surface{
		ambit.InProcess, ambit.CommandLine, ambit.HTTP, ambit.MCP, ambit.WebMCP, ambit.Assistant, ambit.Sandbox, ambit.Schedule,
	} {
		_, run := h.app.NewRun(h.t.Context(), ambit.RunOptions{Principal: Anonymous(), Surface: surface})
		if err := run.Err(); err != nil {
			h.t.Errorf("no run by %s: %v", surface, err)
		}
		table.row(surface.String(), run.Mode().String())
		run.End()
	}
	table.end()
}

// Effects returns, for a golden file, the name and the effect of each capability,
// in lines that do not depend on each other.
func (h *Host) Effects() string {
	var out strings.Builder
	for _, contract := range h.app.Capabilities() {
		fmt.Fprintf(&out, "%s: %s\n", contract.Name(), contract.Spec().Effect)
	}
	return out.String()
}

// table lays out rows of cells.
type table struct{ *tabwriter.Writer }

func newTable(out *strings.Builder) table {
	return table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
}

// row and end ignore errors: a strings.Builder has none.
func (t table) row(cells ...string) { _, _ = fmt.Fprintln(t, strings.Join(cells, "\t")) }

func (t table) end() { _ = t.Flush() }
