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
	root   *node
	goType reflect.Type // nil for a parsed schema
	object bool
	secret bool
}

// Options adjusts how a Go type becomes a schema. The zero value is fine.
type Options struct {
	// Unions names the interface types that may occur and the variants of each, see [OneOf].
	// An interface type other than any that is not listed here is an error.
	Unions []Union
}

// JSON returns the published JSON Schema 2020-12 text: compact and, for one type, the same
// bytes in every process. The text of a Go type is written anew each time, because few ask for
// it more than once and it is as large as the checker; whoever serves it keeps it. That of a
// parsed schema is shared and must not be modified.
func (s *Schema) JSON() []byte {
	if s.goType == nil {
		return s.root.text
	}
	return s.AppendJSON(make([]byte, 0, 1024))
}

// AppendJSON appends to dst what [Schema.JSON] returns.
func (s *Schema) AppendJSON(dst []byte) []byte {
	if s.goType == nil {
		return append(dst, s.root.text...)
	}
	return publish(dst, s.root)
}

// IsObject reports whether the schema is rooted at type "object", as the inputs of most
// protocols have to be.
func (s *Schema) IsObject() bool { return s.object }

// HasSecret reports whether any field below the root is marked secret.
func (s *Schema) HasSecret() bool { return s.secret }
