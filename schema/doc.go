// Package schema turns a Go type, or a JSON Schema 2020-12 text, into one tree that is both the
// published schema and the compiled checker. What is published is what is checked.
//
//	s, err := schema.For[CreateInput](schema.Options{})
//	faults := s.Decode(body, reflect.ValueOf(&in).Elem(), 0)
//
// # Schemas of Go types
//
// [For] and [ForType] read a type and the tags of its fields:
//
//	json                                name, omitempty, omitzero, as in encoding/json
//	doc, title, example                 words for readers
//	default                             the value of a missing member
//	required, nullable                  "true" or "false", where the type does not say it
//	secret                              "true": never repeated in a fault, published as writeOnly
//	enum                                "a,b": the accepted values; a method Enum() []T does the same
//	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
//	minLength, maxLength, pattern, format
//	minItems, maxItems, uniqueItems
//
// On a slice, an array or a map, tags for strings and numbers speak of the elements. A value of
// default or example is written as it is where the JSON form is a string, and as JSON otherwise.
//
// A mistake is an error that names the type, the field and the tag: a value of the wrong kind, a
// limit that the type can't keep, a default that does not fit, and a tag that is nearly one of
// these. Tags of other libraries are left alone.
//
// A field is required unless it is a pointer, has omitempty or omitzero, or has a default.
// A default needs a pointer unless the zero value is invalid anyway, because otherwise zero and
// missing could not be told apart. Null is refused unless nullable says otherwise. Objects of
// structs are closed, and embedded structs are flattened in their place.
//
// Some types have a form of their own: time.Time is a date-time of RFC 3339, time.Duration a
// text such as "1h30m", []byte base64, json.RawMessage and any are anything. A type with
// MarshalText and UnmarshalText is a string; one with MarshalJSON and UnmarshalJSON is anything,
// unless it is a [Describer]. Interfaces need a [Union], made by [OneOf]. Sized integers publish
// their bounds; those of 64 bits are exact and checked, but not published.
//
// # Schemas from text
//
// [Parse] takes the keywords of the specification. Those that the tree knows are compiled; if
// there are others, a complete validator, which loads nothing and has a budget of work, has the
// last word. Nothing that a text demands goes unchecked: what can't be checked is an error.
//
// # Checking
//
// [Schema.Decode] reads bytes into a value, [Schema.Check] only gives the verdict, and
// [Schema.CheckValue] gives it on a Go value. [Schema.Append] checks a Go value and writes its
// JSON in one walk, and [Schema.Complete] fills in defaults where there is no JSON. All verdicts
// agree. Reading is strict: keys must be unique and in the right case, text must be UTF-8,
// nothing may follow the value, and nesting is limited.
//
// Faults come in document order and at most [MaxFaults] at a time. A text that is not JSON is
// one fault, of rule syntax, utf8 or depth. Messages repeat at most 32 bytes of a value, and
// nothing at or below a secret.
//
// # Comparing
//
// [Compare] lists what an edit widens, narrows or leaves.
package schema
