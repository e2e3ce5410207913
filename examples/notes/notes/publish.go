package notes

import "github.com/ambit-dev/ambit"

// PublishInput names the note to publish.
type PublishInput struct {
	ID int64 `json:"id" doc:"Number of the note" minimum:"1" example:"1"`
}

// PublishOutput says what everybody can read now.
type PublishOutput struct {
	ID      int64 `json:"id" doc:"Number of the note"`
	Version int64 `json:"version" doc:"The version that was published; later changes are not"`
}

// Publish lets everybody read a note. What has been read cannot be taken back, so
// somebody else than whoever asks for it has to agree.
var Publish = ambit.NewContract[PublishInput, PublishOutput](ambit.Spec{
	Name:        "notes.publish",
	Title:       "Publish a note",
	Description: "Let everybody read a note, without a key. Somebody else has to agree first; until then, repeat the call when the answer says so.",
	Effect:      ambit.External,
	Permission:  "notes:publish",
	Scopes:      []string{"notes:write"},
	Approval:    ambit.FourEyes,
	Expose:      ambit.HTTP | ambit.MCP,
	Idempotent:  true,
	RecordInput: true,
})

// PublishedOutput holds what was published, the newest first.
type PublishedOutput struct {
	Notes []PublishedNote `json:"notes" doc:"The newest published notes"`
}

// PublishedNote is a note as it was published.
type PublishedNote struct {
	ID    int64  `json:"id" doc:"Number of the note"`
	Title string `json:"title" doc:"Its title"`
	Body  string `json:"body" doc:"Its text"`
}

// Published lists what everybody may read, to everybody.
var Published = ambit.NewContract[ambit.Empty, PublishedOutput](ambit.Spec{
	Name:        "notes.published",
	Title:       "Read what is published",
	Description: "List the newest published notes with their texts.",
	Effect:      ambit.Read,
	Permission:  ambit.Public,
	AgentPolicy: ambit.AgentObserve,
	Expose:      ambit.HTTP,
	Untrusted:   true,
})
