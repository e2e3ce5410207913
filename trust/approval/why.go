package approval

import (
	"strings"

	"github.com/ambit-dev/ambit"
)

// cameBy says in words by which ways in a call came.
func cameBy(via ambit.Surface) string {
	var ways []string
	for _, way := range [...]struct {
		surface ambit.Surface
		words   string
	}{
		{ambit.HTTP, "the HTTP API"},
		{ambit.MCP, "MCP"},
		{ambit.WebMCP, "a tool of a web page"},
		{ambit.Assistant, "the application's assistant"},
		{ambit.Sandbox, "code that a model wrote"},
		{ambit.Schedule, "a run without a person"},
		{ambit.CommandLine, "the command line"},
	} {
		if via.Has(way.surface) {
			ways = append(ways, way.words)
		}
	}
	if len(ways) == 0 {
		return "the application itself"
	}
	return strings.Join(ways, "; ")
}

// whyMore says why a call takes more than the contract of its capability says, or "".
func whyMore(app *ambit.App, p *ambit.Proposal, review *ambit.Review) string {
	const models = ambit.MCP | ambit.Assistant | ambit.Sandbox | ambit.Schedule
	terms, known := app.Terms(p.Binding.Capability)
	switch {
	case p.Level < ambit.Human, known && p.Level <= terms.Contract.Spec().Approval:
		return ""
	case review != nil && review.Concern != "":
		return "more than usual: the application's monitor has something against it"
	case p.Via&models != 0:
		return "more than elsewhere: what comes by " + cameBy(p.Via&models) + " could be confirmed by a program"
	case p.Agent.Verified() || p.Requester.Kind == ambit.KindAgent:
		return "more than of others: an agent could confirm its own call"
	}
	return "more than its contract says now"
}
