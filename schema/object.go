package schema

import (
	"reflect"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

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
	quoted   string // the name as JSON string with a colon
	node     *node
	required bool
	secret   bool
	escaped  bool // the name needs escapes in JSON
	omit     omission
	place    int32 // the number of the field in its struct, inside or nowhere

	*remarks // never nil; fields that have none share one record, see remark
}

const (
	nowhere = -1 // no Go field stands for the member
	inside  = -2 // the Go field is in an embedded struct, see remarks
)

// remarks is what few fields have.
type remarks struct {
	fallback *fallback
	note     *annotations // nil for none
	path     []int        // to a field in an embedded struct
}

// noRemarks is of all fields that have none. It is never changed.
var noRemarks = remarks{}

// newField returns a field that no Go field stands for.
func newField(name string, n *node) field {
	quoted := string(append(strictjson.AppendString(nil, name), ':'))
	return field{quoted: quoted, node: n, escaped: len(quoted) > len(name)+len(`"":`), place: nowhere, remarks: &noRemarks}
}

// name returns the name as it is.
func (f *field) name() string {
	if f.escaped {
		return string(strictjson.Unquote([]byte(f.quoted[1 : len(f.quoted)-2])))
	}
	return f.quoted[1 : len(f.quoted)-2]
}

// remark returns the remarks of f to be set, made if need be.
func (f *field) remark() *remarks {
	if f.remarks == &noRemarks {
		f.remarks = &remarks{}
	}
	return f.remarks
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
		if string(name) == o.fields[i].name() {
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
			o.index[f.name()] = i
		}
		if f.required {
			o.required.set(i)
		}
		if f.fallback != nil {
			o.defaults.set(i)
		}
	}
}
