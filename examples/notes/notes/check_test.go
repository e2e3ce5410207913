package notes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   ambit.Checker
		want []ambit.Fault
	}{
		{"a new title", notes.UpdateInput{Title: new("New")}, nil},
		{"an empty body", notes.UpdateInput{Body: new("")}, nil},
		{"no change", notes.UpdateInput{}, []ambit.Fault{{Message: "give a title, a body or both: there is nothing to change"}}},
		{"tags in and out", notes.TagInput{Add: []string{"a"}, Remove: []string{"b"}}, nil},
		{"no tags", notes.TagInput{}, []ambit.Fault{{Message: "give tags to add, tags to remove or both"}}},
		{"a tag in and out", notes.TagInput{Add: []string{"a", "b"}, Remove: []string{"c", "b"}}, []ambit.Fault{{Pointer: "/remove/1", Message: "a tag cannot be added and removed in one call"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.in.Check(t.Context())); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
