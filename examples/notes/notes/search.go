package notes

import "github.com/ambit-dev/ambit"

// SearchInput asks for the notes that hold every word of Query.
type SearchInput struct {
	Query string `json:"query" doc:"Words to look for; case and accents do not matter, quotes and asterisks mean nothing" minLength:"1" maxLength:"200" example:"roadmap search"`
	Tag   string `json:"tag,omitempty" doc:"Only notes with this tag" pattern:"^[a-z0-9][a-z0-9-]*$" maxLength:"40" example:"meeting"`
	Limit int    `json:"limit" doc:"How many hits at most" minimum:"1" maximum:"50" default:"10"`
}

// SearchOutput holds the hits, the best first.
type SearchOutput struct {
	Hits []Hit  `json:"hits" doc:"The notes found, the best match first"`
	More bool   `json:"more" doc:"Whether there are more hits than the limit let through"`
	Hint string `json:"hint,omitempty" doc:"What to try when nothing was found"`
}

// Hit is one note found, without its whole text.
type Hit struct {
	ID      int64    `json:"id" doc:"Number of the note, for notes.get"`
	Title   string   `json:"title" doc:"Title of the note"`
	Snippet string   `json:"snippet" doc:"The words found, marked with ** on both sides, in the text around them"`
	Tags    []string `json:"tags" doc:"Tags in alphabetical order"`
}

// Search finds notes by the words in them.
var Search = ambit.NewContract[SearchInput, SearchOutput](ambit.Spec{
	Name:        "notes.search",
	Title:       "Search notes",
	Description: "Find notes whose title or body contains every word of the query. Words are matched whole.",
	Effect:      ambit.Read,
	Permission:  "notes:read",
	Scopes:      []string{"notes:read"},
	Expose:      ambit.HTTP | ambit.MCP,
	Untrusted:   true,
	Examples: []ambit.Example{
		{Title: "Two words in one note", Input: `{"query":"search incident"}`},
		{Title: "Only among meeting notes", Input: `{"query":"wiki","tag":"meeting","limit":5}`},
	},
})
