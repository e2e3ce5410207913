package notes

import "github.com/ambit-dev/ambit"

// CreateInput is a new note.
type CreateInput struct {
	Title string   `json:"title" doc:"One line that says what the note is about" minLength:"1" maxLength:"200" pattern:"^\\S(.*\\S)?$" example:"Roadmap for the spring release"`
	Body  string   `json:"body,omitempty" doc:"The text of the note, usually Markdown" maxLength:"20000"`
	Tags  []string `json:"tags,omitempty" doc:"Tags to file the note under: lower-case letters, digits and hyphens" maxItems:"20" uniqueItems:"true" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$" example:"[\"planning\"]"`
}

// Create writes a new note. Calling it twice writes two notes.
var Create = ambit.NewContract[CreateInput, Note](ambit.Spec{
	Name:        "notes.create",
	Title:       "Write a note",
	Description: "Write a new note. Returns it with its number and its version, which notes.update needs.",
	Effect:      ambit.Write,
	Permission:  "notes:write",
	Scopes:      []string{"notes:write"},
	Expose:      ambit.HTTP | ambit.MCP,
	Examples: []ambit.Example{
		{Title: "A filed note", Input: `{"title":"Standup, Friday","body":"All green.","tags":["meeting"]}`},
	},
})
