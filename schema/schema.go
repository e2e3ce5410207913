package schema

import (
	"reflect"
)

// DefaultDepth is how many arrays and objects may enclose one another in a value when a
// caller states no limit of its own.
const DefaultDepth = 64

// MaxFaults is the most faults that one check reports. Checking stops there.
const MaxFaults = 20

// A Schema is the published form and the compiled checker of one type. It is immutable and
// safe for concurrent use. The zero value is not usable; see [For], [ForType] and [Parse].
type Schema struct {
	published []byte
	root      *node
	goType    reflect.Type // nil for a parsed schema
	object    bool
	secret    bool
}

// Options adjusts how a Go type becomes a schema. The zero value is fine.
type Options struct {
	// Unions names the interface types that may occur and the variants of each, see [OneOf].
	// An interface type other than any that is not listed here is an error.
	Unions []Union
}

// JSON returns the published JSON Schema 2020-12 text: compact and, for one type, the same
// bytes in every process. The slice is shared and must not be modified.
func (s *Schema) JSON() []byte { return s.published }

// IsObject reports whether the schema is rooted at type "object", as the inputs of most
// protocols have to be.
func (s *Schema) IsObject() bool { return s.object }

// HasSecret reports whether any field below the root is marked secret.
func (s *Schema) HasSecret() bool { return s.secret }
