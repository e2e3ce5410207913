package storetest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

func isConflict(err error) bool {
	e, ok := errors.AsType[*ambit.Error](err)
	return ok && e.Code == ambit.CodeConflict
}

// haltTests are about the halt switch.
func haltTests() []test {
	return []test{{"what is halted is read, and released as a whole", func(t *testing.T, b bench) {
		if form := b.Halts.Form(); form == "" || slices.Contains([]string{"process", "signal", "self", "file"}, form) {
			t.Errorf("want a form of its own, got %q", form)
		}
		read := func(want ...ambit.Halt) {
			t.Helper()
			got, err := b.Halts.Read(t.Context())
			order := func(a, b ambit.Halt) int { return cmp.Or(int(a.Kind)-int(b.Kind), strings.Compare(a.Of, b.Of)) }
			slices.SortFunc(got, order)
			slices.SortFunc(want, order)
			if diff := gocmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Read: error %v (-want +got):\n%s", err, diff)
			}
		}
		read()
		every := []ambit.Halt{
			{Kind: ambit.HaltAll},
			{Kind: ambit.HaltChanges},
			{Kind: ambit.HaltAgents},
			{Kind: ambit.HaltPrincipal, Of: "4:acme/6:apikey/robot"},
			{Kind: ambit.HaltTenant, Of: "acme"},
			{Kind: ambit.HaltTenant},
			{Kind: ambit.HaltCapability, Of: "notes.purge"},
		}
		for i, h := range every {
			if err := b.Halts.Halt(t.Context(), h); err != nil {
				t.Fatalf("Halt: %v", err)
			}
			read(every[:i+1]...)
		}
		if err := b.Halts.Halt(t.Context(), every...); err != nil {
			t.Fatalf("Halt: %v", err)
		}
		read(every...)
		for n := range every {
			if err := b.Halts.Resume(t.Context(), every[:n]); !isConflict(err) {
				t.Errorf("Resume where more is stopped than was seen: want a conflict, got %v", err)
			}
		}
		read(every...)
		if err := b.Halts.Resume(t.Context(), append(slices.Clone(every), ambit.Halt{Kind: ambit.HaltTenant, Of: "released by somebody else"})); err != nil {
			t.Fatalf("Resume: %v", err)
		}
		read()
		if err := b.Halts.Resume(t.Context(), nil); err != nil {
			t.Errorf("Resume where nothing is stopped: %v", err)
		}
		if err := b.Halts.Halt(t.Context(), ambit.Halt{}); err != nil {
			t.Fatalf("Halt of what is none: %v", err)
		}
		read(ambit.Halt{Kind: ambit.HaltAll})
	}}}
}
