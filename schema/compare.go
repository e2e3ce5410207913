package schema

// Direction says on which side of a capability a schema stands.
type Direction int

const (
	// Input is what callers send: accepting more is wider.
	Input Direction = iota
	// Output is what callers receive: answering more is wider.
	Output
)

// Effect says what a change does to what can pass.
type Effect int

const (
	// Neutral changes words, not what can pass.
	Neutral Effect = iota
	// Narrows lets less pass than before.
	Narrows
	// Widens lets something pass that could not before, or cannot be put in order.
	Widens
)

// A Change is one difference between two schemas.
type Change struct {
	// Pointer is the JSON Pointer of the place in the newer schema (in the older, for
	// something removed).
	Pointer string `json:"pointer"`
	// Rule is the keyword that differs.
	Rule string `json:"rule"`
	// Message says what changed, for a reviewer.
	Message string `json:"message"`
	// Effect says what it does.
	Effect Effect `json:"effect"`
}

// Compare lists what changed from old to new.
func Compare(old, new *Schema, d Direction) []Change { return nil }
