package notes

import "github.com/ambit-dev/ambit"

// ImportInput is a text that holds many notes.
type ImportInput struct {
	Text   string `json:"text" doc:"The notes. Markdown: each heading of the first level starts a note, a line 'Tags: a, b' right below files it. Text: lines of three hyphens part the notes, the first line of each is its title" minLength:"1"`
	Format string `json:"format" doc:"How the text is written" enum:"markdown,text" default:"markdown"`
}

// ImportOutput names the notes that the import wrote.
type ImportOutput struct {
	Imported int     `json:"imported" doc:"How many notes were written"`
	IDs      []int64 `json:"ids" doc:"Their numbers, in the order of the text"`
	Hint     string  `json:"hint,omitempty" doc:"What to try when the text held no note"`
}

// Import writes all notes of a text or, when one is faulty or the call is
// canceled, none. It reports its progress.
var Import = ambit.NewContract[ImportInput, ImportOutput](ambit.Spec{
	Name:        "notes.import",
	Title:       "Import notes",
	Description: "Write many notes from one Markdown or plain text. All are written or none is; the answer lists their numbers.",
	Effect:      ambit.Write,
	Permission:  "notes:write",
	Scopes:      []string{"notes:write"},
	Expose:      ambit.HTTP | ambit.MCP,
	Examples: []ambit.Example{
		{Title: "Two notes", Input: `{"text":"# Pelican\nTags: birds\n\nA large bill.\n\n# Heron\n"}`},
	},
})
