package trust

import (
	"context"
	"fmt"

	"github.com/ambit-dev/ambit"
)

// CheckRequesters refuses to serve a surface on which some capability takes the
// decision of a person, where no caller can show a credential: nobody could ask
// for one. Surfaces call it when they are made.
func CheckRequesters(app *ambit.App, surface ambit.Surface, o Options) error {
	if len(o.Authenticators) > 0 {
		return nil
	}
	for _, c := range app.Capabilities() {
		spec := c.Spec()
		if _, need := spec.Decide(ambit.ModeAuto, surface); spec.Expose.Has(surface) && need >= ambit.Human {
			return fmt.Errorf("trust: capability %q takes the approval of a person on %s (%s), and Options.Authenticators is empty, so that nobody could ask for it: "+
				"say how callers are known, or take the surface out of its Expose", spec.Name, surface, need)
		}
	}
	return nil
}

// OutOfReach names the capabilities on a surface that take a credential: where no
// caller can show one, nobody can call them. It asks the application what it lets
// anonymous callers do, and freezes it.
func OutOfReach(ctx context.Context, app *ambit.App, surface ambit.Surface) (names []string) {
	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}, Surface: surface})
	defer run.End()
	for _, c := range app.Capabilities() {
		name := c.Name()
		if surface == ambit.MCP {
			name = c.ToolName()
		}
		if c.Spec().Expose.Has(surface) && ambit.CodeOf(run.Admit(ctx, name)) == ambit.CodeUnauthenticated {
			names = append(names, c.Name())
		}
	}
	return names
}
