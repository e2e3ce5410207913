package notes

import (
	"time"

	"github.com/ambit-dev/ambit"
)

// PurgeInput says which notes to delete for good.
type PurgeInput struct {
	Tag    string     `json:"tag" doc:"Delete notes with this tag" minLength:"1" maxLength:"40" pattern:"^[a-z0-9][a-z0-9-]*$" example:"trash"`
	Before *time.Time `json:"before,omitempty" doc:"Only notes last changed before this time"`
}

// PurgeOutput names the notes that are gone.
type PurgeOutput struct {
	Purged int     `json:"purged" doc:"How many notes were deleted"`
	IDs    []int64 `json:"ids" doc:"Their numbers, which are never used again"`
}

// Purge deletes notes for good. A person with a key confirms what they have been
// shown; what an agent asks for over MCP, a person decides.
var Purge = ambit.NewContract[PurgeInput, PurgeOutput](ambit.Spec{
	Name:        "notes.purge",
	Title:       "Delete notes for good",
	Description: "Delete all notes with a tag, such as trash, for good. This cannot be taken back.",
	Effect:      ambit.Destructive,
	Permission:  "notes:purge",
	Scopes:      []string{"notes:write"},
	Expose:      ambit.HTTP | ambit.MCP,
	Idempotent:  true,
	RecordInput: true,
	Examples: []ambit.Example{
		{Title: "Empty the trash", Input: `{"tag":"trash"}`},
	},
})
