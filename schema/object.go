package schema

import "reflect"

// linearFields is the number of fields up to which a search goes through them one by one.
const linearFields = 12

// object is the rules for JSON objects, of structs, maps and parsed schemas alike.
type object struct {
	fields   []field
	index    map[string]int // nil for few fields
	required fieldSet
	defaults fieldSet
	closed   bool
	extra    *node // for members that are no fields; nil: anything
	min      int
	max      int // -1: no limit
}

// field is one named member.
type field struct {
	name     string
	quoted   []byte // the name as JSON string with a colon
	node     *node
	required bool
	secret   bool
	omit     omission
	place    []int // the field in its struct; nil if no Go field stands for it
	fallback *fallback
	note     *annotations // nil for none
}

// omission says which Go values of a field stand for a missing member.
type omission uint8

const (
	omitZero   omission = 1 << iota // the zero value of the language
	omitMethod                      // what the IsZero method of the type calls zero
	omitEmpty                       // false, 0, nil, and empty strings, arrays, slices and maps
	omitNil                         // a nil pointer
)

// fallback is the value of a missing member.
type fallback struct {
	json  []byte
	value reflect.Value // of the field's type; invalid in parsed schemas
	plain bool          // value holds no references and can be copied
}

// find returns the place of the field with the given name, or -1.
func (o *object) find(name []byte) int {
	if o.index != nil {
		if i, ok := o.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.fields {
		if string(name) == o.fields[i].name {
			return i
		}
	}
	return -1
}

// seal derives what look-ups need from the fields.
func (o *object) seal() {
	if len(o.fields) > linearFields {
		o.index = make(map[string]int, len(o.fields))
	}
	for i := range o.fields {
		f := &o.fields[i]
		if o.index != nil {
			o.index[f.name] = i
		}
		if f.required {
			o.required.set(i)
		}
		if f.fallback != nil {
			o.defaults.set(i)
		}
	}
}
