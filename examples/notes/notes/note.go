package notes

import "time"

// Note is one note as every capability shows it.
type Note struct {
	ID        int64     `json:"id" doc:"Number of the note; it never changes and is never used again"`
	Title     string    `json:"title" doc:"One line that says what the note is about"`
	Body      string    `json:"body" doc:"The text of the note, usually Markdown"`
	Tags      []string  `json:"tags" doc:"Tags in alphabetical order"`
	Version   int64     `json:"version" doc:"Counts the changes of title and body; send it back to change them"`
	CreatedAt time.Time `json:"createdAt" doc:"When the note was written"`
	UpdatedAt time.Time `json:"updatedAt" doc:"When title or body were last changed"`
}

// What a note may hold. The contracts publish these limits in their tags; an
// import holds each note of its text to them.
const (
	// MaxTitle is the most characters of a title.
	MaxTitle = 200
	// MaxBody is the most characters of a body.
	MaxBody = 20000
	// MaxTag is the most characters of a tag.
	MaxTag = 40
	// MaxTags is the most tags that a note keeps.
	MaxTags = 20
	// MaxImport is the most notes that one import writes.
	MaxImport = 1000
	// TagPattern is what a tag looks like, as a regular expression.
	TagPattern = "^[a-z0-9][a-z0-9-]*$"
)
