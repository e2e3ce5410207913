package ambit

// Preview is what a call would change, for whoever is asked about it. A
// capability computes it with WithPreview, by reading only.
type Preview struct {
	// Summary says it in one sentence: "Delete 3 notes for good". Required.
	Summary string `json:"summary" minLength:"1" maxLength:"500" doc:"What would change, in one sentence"`
	// Items are what would be touched, one by one, as far as they can be listed.
	Items []PreviewItem `json:"items,omitempty" maxItems:"200" doc:"What would be touched, one by one"`
	// More is how many items there are beside Items.
	More int `json:"more,omitempty" minimum:"0" doc:"How many items there are beside those listed"`
	// Version is what the target's state is known by, such as a revision or an
	// ETag: what was allowed for one version is not allowed for another. Empty:
	// the preview itself is all that tells.
	Version string `json:"version,omitempty" maxLength:"200" doc:"The version of the target"`
	// Data is for programs that show the preview in a form of their own.
	Data map[string]any `json:"data,omitempty" doc:"More about it, for programs"`
}

// PreviewItem is one thing that a call would touch.
type PreviewItem struct {
	// ID names the thing within the application. May be empty.
	ID string `json:"id,omitempty" maxLength:"200"`
	// Title is what people know it by. Required.
	Title string `json:"title" minLength:"1" maxLength:"300"`
	// Change says what would happen to it, where that is not the same for all.
	Change string `json:"change,omitempty" maxLength:"300"`
}

// MaxPreview is the most bytes that a preview may have as JSON.
const MaxPreview = 64 << 10
