package ambit

import "encoding/json"

// Listing is a capability as lists in JSON show it, with what a caller needs to
// know of it.
type Listing struct {
	// Name, Title, Description, Effect, Idempotent and Untrusted are what [Spec] has
	// of these names.
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description"`
	Effect      Effect `json:"effect"`
	Idempotent  bool   `json:"idempotent,omitzero"`
	Untrusted   bool   `json:"untrusted,omitzero"`
	// Path is where a surface has the capability. Empty: found by its name alone.
	Path string `json:"path,omitzero"`
	// Input and Output are schemas. Output is nil unless the capability publishes it
	// ([Spec.PublishOutput]).
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitzero"`
	// Examples are those of [Spec.Examples].
	Examples []ListingExample `json:"examples,omitzero"`
}

// ListingExample is an [Example] within a [Listing].
type ListingExample struct {
	// Title says what the example does. May be empty.
	Title string `json:"title,omitzero"`
	// Input is the input.
	Input json.RawMessage `json:"input"`
}

// ListingOf returns what lists show of a contract, without a path. The contract is
// one of an application's, as what [App.Catalog] renders is.
func ListingOf(contract AnyContract) Listing {
	s := &contract.core().spec
	l := Listing{
		Name: s.Name, Title: s.Title, Description: s.Description, Effect: s.Effect, Idempotent: s.Idempotent, Untrusted: s.Untrusted,
		Input: contract.Input().JSON(),
	}
	if s.PublishOutput {
		l.Output = contract.Output().JSON()
	}
	for _, example := range s.Examples {
		l.Examples = append(l.Examples, ListingExample{Title: example.Title, Input: json.RawMessage(example.Input)})
	}
	return l
}
