package notes

import (
	"context"

	"github.com/ambit-dev/ambit"
)

// UpdateInput changes the title, the body or both; what is absent stays.
type UpdateInput struct {
	ID      int64   `json:"id" doc:"Number of the note" minimum:"1" example:"1"`
	Version int64   `json:"version" doc:"Version of the note that this change was made for" minimum:"1" example:"1"`
	Title   *string `json:"title,omitempty" doc:"New title; absent leaves it" minLength:"1" maxLength:"200" pattern:"^\\S(.*\\S)?$"`
	Body    *string `json:"body,omitempty" doc:"New text, in full; absent leaves it" maxLength:"20000"`
}

// Check says that there is something to change.
func (in UpdateInput) Check(context.Context) []ambit.Fault {
	if in.Title == nil && in.Body == nil {
		return []ambit.Fault{{Message: "give a title, a body or both: there is nothing to change"}}
	}
	return nil
}

// Update changes a note that nobody has changed in between. A change made for
// another version is refused with conflict; the error's details hold the
// current version under "version". A repeat of the same call is such a
// conflict, so it changes nothing more.
var Update = ambit.NewContract[UpdateInput, Note](ambit.Spec{
	Name:        "notes.update",
	Title:       "Change a note",
	Description: "Change the title or the text of a note. Refused with conflict when the note has been changed since the version given: read it again, then decide.",
	Effect:      ambit.Write,
	Permission:  "notes:write",
	Scopes:      []string{"notes:write"},
	Expose:      ambit.HTTP | ambit.MCP,
	Idempotent:  true,
	Examples: []ambit.Example{
		{Title: "A new title", Input: `{"id":20,"version":1,"title":"Pricing ideas, second round"}`},
	},
})
