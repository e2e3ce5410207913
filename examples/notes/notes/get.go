package notes

import "github.com/ambit-dev/ambit"

// GetInput names one note.
type GetInput struct {
	ID int64 `json:"id" doc:"Number of the note, as notes.search gives it" minimum:"1" example:"1"`
}

// GetOutput holds the note, if there is one.
type GetOutput struct {
	Found bool   `json:"found" doc:"Whether there is a note with this number"`
	Note  *Note  `json:"note,omitempty" doc:"The note; absent when none was found"`
	Hint  string `json:"hint,omitempty" doc:"What to try when none was found"`
}

// Get reads one note in full.
var Get = ambit.NewContract[GetInput, GetOutput](ambit.Spec{
	Name:        "notes.get",
	Title:       "Read a note",
	Description: "Read one note in full by its number. A number without a note is answered with found: false.",
	Effect:      ambit.Read,
	Permission:  "notes:read",
	Scopes:      []string{"notes:read"},
	Expose:      ambit.HTTP | ambit.MCP,
	Untrusted:   true,
})
