package ambit_test

import (
	"context"
	"testing"

	"github.com/ambit-dev/ambit"
)

// A mended input is the input: what a person is asked about is what runs.
func TestRepair(t *testing.T) {
	t.Parallel()
	write := echoSpec()
	write.Effect = ambit.Write
	for _, test := range []struct {
		name, in string
		surface  ambit.Surface
		want     string // what was asked about, or the fault's pointer
		repaired int
	}{
		{"mended", `{"text":"a","times":"2"}`, ambit.MCP, `{"text":"a","times":2}`, 1},
		{"still invalid", `{"text":"a","times":"9"}`, ambit.MCP, "/times: must be an integer, not a string", 0},
		{"nothing to mend", `{"text":"a","times":2}`, ambit.MCP, `{"text":"a","times":2}`, 0},
		{"another surface", `{"text":"a","times":"2"}`, ambit.HTTP, "/times: must be an integer, not a string", 0},
	} {
		seen := &records{}
		var asked string
		app := newApp(ambit.Options{Repair: ambit.MCP, Observers: []ambit.Observer{seen}}, ambit.Define(write, echo))
		ctx, run := app.NewRun(t.Context(), ambit.RunOptions{
			Principal: alice, Surface: test.surface, Mode: ambit.ModeDefault,
			Prompter: ambit.PrompterFunc(func(_ context.Context, q ambit.Question) (ambit.Answer, error) {
				asked = string(q.Input)
				return ambit.Allow, nil
			}),
		})
		_, err := run.Invoke(ctx, ambit.Request{Name: "echo", Input: []byte(test.in)})
		run.End()
		if err != nil {
			f := failure(t, err).Faults[0]
			asked = f.Pointer + ": " + f.Message
		}
		if asked != test.want || seen.last(t).Repaired != test.repaired {
			t.Errorf("%s: want %q with %d mended, got %q with %d", test.name, test.want, test.repaired, asked, seen.last(t).Repaired)
		}
	}
}
