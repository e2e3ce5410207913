package schema

import (
	"reflect"
)

// types is a set of JSON types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber // every number, integers included
	typeString
	typeArray
	typeObject

	typeAny = typeNull | typeBoolean | typeInteger | typeNumber | typeString | typeArray | typeObject
)

// typeNames lists the types in the order in which messages and published forms name them.
var typeNames = [...]struct {
	bit  types
	name string
}{
	{typeObject, "object"},
	{typeArray, "array"},
	{typeString, "string"},
	{typeNumber, "number"},
	{typeInteger, "integer"},
	{typeBoolean, "boolean"},
	{typeNull, "null"},
}

// A binding says what stands for a value in Go.
type binding uint8

const (
	bindNothing  binding = iota // a node of a parsed schema
	bindBool                    // bool
	bindInt                     // a signed integer
	bindUint                    // an unsigned integer
	bindFloat                   // float32 or float64
	bindString                  // string
	bindBytes                   // []byte, base64
	bindTime                    // time.Time, RFC 3339
	bindDuration                // time.Duration, Go's text form
	bindText                    // encoding.TextMarshaler and TextUnmarshaler
	bindRaw                     // json.RawMessage
	bindAny                     // any
	bindMethods                 // json.Marshaler and Unmarshaler
	bindStruct                  // a struct
	bindMap                     // a map with string keys
	bindSlice                   // a slice
	bindArray                   // an array
	bindUnion                   // an interface with known variants
)

// A node is the rules for one value, and for Go types how the value is kept. A node is not
// changed once its schema is compiled. Nodes may form cycles.
//
// Rules for a JSON type apply to values of that type only, as in JSON Schema; types says
// which types are accepted at all.
type node struct {
	types    types
	bind     binding
	secret   bool  // the value and all below it are never repeated
	nullable bool  // null is accepted before any other rule is looked at
	special  bool  // some field but the rules for JSON types matters, see seal
	defaults bool  // a default is defined somewhere below
	passes   bool  // every Go value of its type is valid, see markPassing
	pointers uint8 // how many Go pointers lead to the value

	str  *stringRules
	num  *numberRules
	arr  *arrayRules
	obj  *object
	enum *enumRules

	goType reflect.Type // of the value, behind all pointers; nil in parsed schemas
	named  *node        // what its Go type is defined as, if that has a name and may contain itself

	*rarities // never nil; nodes that have none of them share one record, see rare
}

// rarities is what few nodes have. A tree has as many nodes as its type has fields, and an
// application as many trees as it has capabilities, so that each word in a node counts.
type rarities struct {
	union     *unionRules // the variant follows from a member
	branches  []branch    // the variant follows from the JSON type
	complete  *completeValidator
	described *node        // for complete, what the tree checks; for methods, what the type says of its JSON
	text      []byte       // the published form, where it was given as text
	note      *annotations // of parsed schemas; nil for none
}

// noRarities is of all nodes that have none. It is never changed.
var noRarities = rarities{}

// newNode returns a node for values of some types.
func newNode(t types) *node { return &node{types: t, rarities: &noRarities} }

// goNode returns a node for values of a Go type.
func goNode(goType reflect.Type, t types, b binding) *node {
	n := newNode(t)
	n.goType, n.bind = goType, b
	n.seal()
	return n
}

// rare returns the rarities of n to be set, made if need be. Copies of n share them.
func (n *node) rare() *rarities {
	if n.rarities == &noRarities {
		n.rarities = &rarities{}
	}
	return n.rarities
}

// words returns the annotations, none for nil.
func (a *annotations) words() annotations {
	if a == nil {
		return annotations{}
	}
	return *a
}

// seal derives what the walks look at first.
func (n *node) seal() {
	n.special = n.nullable || n.secret || n.pointers > 0 || n.branches != nil || n.complete != nil ||
		n.bind == bindRaw || n.bind == bindAny || n.bind == bindMethods
}

// annotations is what a schema says to readers and no check looks at.
type annotations struct {
	title, doc string
	example    []byte // JSON text
}

// A branch is one of several schemas with no JSON type in common.
type branch struct {
	types types
	node  *node
}

// arrayRules are the rules for arrays.
type arrayRules struct {
	items  *node // nil: anything
	min    int
	max    int // -1: no limit
	unique bool
}

// unionRules choose a variant by the value of one member.
type unionRules struct {
	discriminator string
	names         []string // sorted
	variants      []*node  // in the order of names
	goTypes       []reflect.Type
	allowed       []any
}

// variant returns the place of the variant with the given name, or -1.
func (u *unionRules) variant(name []byte) int {
	for i, known := range u.names {
		if string(name) == known {
			return i
		}
	}
	return -1
}
