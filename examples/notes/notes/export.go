package notes

import "github.com/ambit-dev/ambit"

// ExportInput chooses which notes to export and where to go on.
type ExportInput struct {
	Tag   string `json:"tag,omitempty" doc:"Only notes with this tag" pattern:"^[a-z0-9][a-z0-9-]*$" maxLength:"40" example:"recipe"`
	After int64  `json:"after,omitempty" doc:"Go on after the note with this number: the 'next' of the part before" minimum:"0"`
}

// ExportOutput is one part of the export.
type ExportOutput struct {
	Markdown string `json:"markdown" doc:"The notes in the form that notes.import reads"`
	Exported int    `json:"exported" doc:"How many notes this part holds"`
	Next     *int64 `json:"next,omitempty" doc:"Give this as 'after' for the next part; absent when this is the last"`
	Hint     string `json:"hint,omitempty" doc:"What to try when there was nothing to export"`
}

// Export writes notes as Markdown, in parts of a few hundred kilobytes.
var Export = ambit.NewContract[ExportInput, ExportOutput](ambit.Spec{
	Name:        "notes.export",
	Title:       "Export notes",
	Description: "Write notes as one Markdown text that notes.import reads back. A large notebook comes in parts.",
	Effect:      ambit.Read,
	Permission:  "notes:read",
	Scopes:      []string{"notes:read"},
	Expose:      ambit.HTTP | ambit.MCP,
	Untrusted:   true,
	Examples: []ambit.Example{
		{Title: "All recipes", Input: `{"tag":"recipe"}`},
	},
})
