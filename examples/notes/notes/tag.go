package notes

import (
	"context"
	"fmt"
	"slices"

	"github.com/ambit-dev/ambit"
)

// TagInput files a note under some tags and takes it out of others.
type TagInput struct {
	ID     int64    `json:"id" doc:"Number of the note" minimum:"1" example:"1"`
	Add    []string `json:"add,omitempty" doc:"Tags to add: lower-case letters, digits and hyphens" maxItems:"20" uniqueItems:"true" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$" example:"[\"planning\"]"`
	Remove []string `json:"remove,omitempty" doc:"Tags to remove" maxItems:"20" uniqueItems:"true" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$"`
}

// Check says that there is something to do, and for no tag both.
func (in TagInput) Check(context.Context) []ambit.Fault {
	if len(in.Add)+len(in.Remove) == 0 {
		return []ambit.Fault{{Message: "give tags to add, tags to remove or both"}}
	}
	var faults []ambit.Fault
	for i, name := range in.Remove {
		if slices.Contains(in.Add, name) {
			faults = append(faults, ambit.Fault{Pointer: fmt.Sprintf("/remove/%d", i), Message: "a tag cannot be added and removed in one call"})
		}
	}
	return faults
}

// TagOutput holds the tags of the note afterwards.
type TagOutput struct {
	ID      int64    `json:"id" doc:"Number of the note"`
	Tags    []string `json:"tags" doc:"All tags of the note now, in alphabetical order"`
	Changed bool     `json:"changed" doc:"Whether this call has changed anything"`
}

// Tag adds and removes tags. It says what shall be, so a repeat changes nothing.
var Tag = ambit.NewContract[TagInput, TagOutput](ambit.Spec{
	Name:        "notes.tag",
	Title:       "Tag a note",
	Description: "Add tags to a note and remove tags from it. Tags that are already there, or already gone, are left as they are.",
	Effect:      ambit.Write,
	Permission:  "notes:write",
	Scopes:      []string{"notes:write"},
	Expose:      ambit.HTTP | ambit.MCP,
	Idempotent:  true,
	Examples: []ambit.Example{
		{Title: "Move a note to the trash", Input: `{"id":12,"add":["trash"],"remove":["hiring"]}`},
	},
})
