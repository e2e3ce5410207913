package schema

// A Fault is one thing wrong with a value, in words for the one who sent it.
type Fault struct {
	// Pointer is the JSON Pointer (RFC 6901) of the place; "" is the whole value. For a
	// missing member it names the place where the member belongs.
	Pointer string `json:"pointer"`
	// Rule is the JSON Schema keyword that was broken, or one of syntax, utf8, depth,
	// duplicate, case, unknown and budget.
	Rule string `json:"rule"`
	// Message says what is wrong and what would be right.
	Message string `json:"message"`
	// Allowed lists the accepted values where there are few of them; it is nil otherwise.
	Allowed []any `json:"allowed,omitempty"`
}
