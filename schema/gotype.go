package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
	numberType   = reflect.TypeFor[json.Number]()
	anyType      = reflect.TypeFor[any]()

	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	describer       = reflect.TypeFor[Describer]()
	zeroer          = reflect.TypeFor[interface{ IsZero() bool }]()
)

// A Describer is a type that defines its JSON form by methods, MarshalJSON and UnmarshalJSON,
// and says what that form is. Without it the published schema of such a type accepts anything.
type Describer interface {
	// JSONSchema is called on the zero value. It returns a JSON Schema as [Parse] takes it,
	// which must not hold references.
	JSONSchema() string
}

// For returns the schema of T. It is [ForType] for a type that is known at compile time.
func For[T any](o Options) (*Schema, error) { return ForType(reflect.TypeFor[T](), o) }

// ForType returns the schema of t. The error, if t has none, names the type, the field and the
// tag, and says what would be right.
func ForType(t reflect.Type, o Options) (*Schema, error) {
	if t == nil {
		return nil, fmt.Errorf("schema: the type is nil; pass a type such as a struct")
	}
	c := &typeCompiler{}
	for _, u := range o.Unions {
		if err := c.declare(u); err != nil {
			return nil, err
		}
	}
	root, err := c.node(t)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", typeWords(t), err)
	}
	for _, resolve := range c.pending {
		if err := resolve(); err != nil {
			return nil, fmt.Errorf("schema: %s: %w", typeWords(t), err)
		}
	}
	return finish(root, t), nil
}

// finish makes a schema of a compiled tree.
func finish(root *node, t reflect.Type) *Schema {
	s := &Schema{root: root, goType: t, object: root.types == typeObject && !root.nullable}
	nodes := reachable(root)
	markDefaults(nodes)
	markPassing(nodes)
	for _, n := range nodes {
		s.secret = s.secret || n.holdsSecret()
	}
	if t == nil {
		s.object = string(rootType(root.text)) == `"object"`
	}
	return s
}

// rootType returns the value of the keyword type in a schema text, or nil.
func rootType(text []byte) []byte {
	for members := strictjson.Members(text, strictjson.MaxDepth); members.Next(); {
		if string(members.Key()) == "type" {
			return members.Value()
		}
	}
	return nil
}

// typeCompiler turns Go types into nodes.
type typeCompiler struct {
	structs  []*node
	open     []*node // named slices and maps under construction
	unions   []*node
	declared []Union
	pending  []func() error // what needs the finished tree: defaults and examples
}

// ofType returns the node of a list that stands for t, or nil.
func ofType(list []*node, t reflect.Type) *node {
	for _, n := range list {
		if n.goType == t {
			return n
		}
	}
	return nil
}

// node returns the node of a type.
func (c *typeCompiler) node(t reflect.Type) (*node, error) {
	pointers := 0
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
		if pointers++; pointers > 8 {
			return nil, fmt.Errorf("has too many pointers; use one at most")
		}
	}
	n, err := c.value(t)
	if err != nil || pointers == 0 {
		return n, err
	}
	copied := *n
	copied.pointers = uint8(pointers)
	copied.seal()
	return &copied, nil
}

// value returns the node of a type that is no pointer.
func (c *typeCompiler) value(t reflect.Type) (*node, error) {
	switch t {
	case timeType:
		return goNode(t, typeString, bindTime), nil
	case durationType:
		return goNode(t, typeString, bindDuration), nil
	case rawType:
		return goNode(t, typeAny, bindRaw), nil
	case anyType:
		return goNode(t, typeAny, bindAny), nil
	case numberType:
		return nil, fmt.Errorf("json.Number has no fixed form; use int64, float64 or json.RawMessage")
	}
	if t.Kind() == reflect.Interface {
		return c.union(t)
	}
	if n, err := methods(t); n != nil || err != nil {
		return n, err
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return c.container(t)
	case reflect.Struct:
		return c.structNode(t)
	}
	n, err := scalar(t)
	if err != nil {
		return nil, err
	}
	n.enum, err = enumOf(n, t)
	return n, err
}

// scalar returns the node of a type of a basic kind.
func scalar(t reflect.Type) (*node, error) {
	var n *node
	switch t.Kind() {
	case reflect.Bool:
		n = goNode(t, typeBoolean, bindBool)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n = goNode(t, typeInteger, bindInt)
		n.num = signedRules(t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n = goNode(t, typeInteger, bindUint)
		n.num = unsignedRules(t.Bits())
	case reflect.Float32, reflect.Float64:
		n = goNode(t, typeNumber, bindFloat)
	case reflect.String:
		n = goNode(t, typeString, bindString)
	default:
		return nil, fmt.Errorf("%s has no JSON form; leave the field out with json:\"-\" or use another type", t.Kind())
	}
	return n, nil
}

// methodless reports whether t can't have methods: it has no name, or one of the language's own.
// A struct may have them from what it embeds.
func methodless(t reflect.Type) bool { return t.PkgPath() == "" && t.Kind() != reflect.Struct }

// methods returns the node of a type whose methods define its JSON form, nil for any other.
func methods(t reflect.Type) (*node, error) {
	if methodless(t) {
		return nil, nil
	}
	pointer := reflect.PointerTo(t)
	writes, reads := pointer.Implements(jsonMarshaler), pointer.Implements(jsonUnmarshaler)
	describes := pointer.Implements(describer)
	switch {
	case writes != reads:
		return nil, fmt.Errorf("%s has one of MarshalJSON and UnmarshalJSON; define both, as it is read as well as written", t)
	case writes:
		if from := promoter(t, jsonMarshaler); from != "" && !describes {
			return nil, fmt.Errorf("%s takes MarshalJSON from its embedded field %s, which then stands for the whole; give that field a name", t, from)
		}
		n := goNode(t, typeAny, bindMethods)
		if describes {
			return n, describe(n, t)
		}
		return n, nil
	case describes:
		return nil, fmt.Errorf("%s has JSONSchema but not MarshalJSON and UnmarshalJSON; without them its fields are its schema", t)
	}
	writes, reads = pointer.Implements(textMarshaler), pointer.Implements(textUnmarshaler)
	switch {
	case writes != reads:
		return nil, fmt.Errorf("%s has one of MarshalText and UnmarshalText; define both, as it is read as well as written", t)
	case writes:
		if from := promoter(t, textMarshaler); from != "" {
			return nil, fmt.Errorf("%s takes MarshalText from its embedded field %s, which then stands for the whole; give that field a name", t, from)
		}
		n := goNode(t, typeString, bindText)
		var err error
		n.enum, err = enumOf(n, t)
		return n, err
	}
	return nil, nil
}

// promoter returns the embedded field that gives t the methods of an interface, or "".
func promoter(t, methods reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && (f.Type.Implements(methods) || reflect.PointerTo(f.Type).Implements(methods)) {
			return f.Name
		}
	}
	return ""
}

// describe takes over what a type says of its JSON form.
func describe(n *node, t reflect.Type) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the JSONSchema method of %s panics on the zero value: %v", t, p)
		}
	}()
	text := reflect.New(t).Interface().(Describer).JSONSchema()
	described, err := parseText([]byte(text), parseOptions{formats: true, embedded: true})
	if err != nil {
		return fmt.Errorf("the JSONSchema method of %s: %w", t, err)
	}
	n.types = described.types
	n.rare().described, n.rare().text = described, described.text
	return nil
}

// container returns the node of a slice, an array or a map.
func (c *typeCompiler) container(t reflect.Type) (*node, error) {
	if under := ofType(c.open, t); under != nil {
		return under, nil
	}
	n := goNode(t, 0, bindNothing)
	if t.Name() != "" {
		n.named = n
		c.open = append(c.open, n)
		defer func() { c.open = c.open[:len(c.open)-1] }()
	}
	elem := t.Elem()
	switch {
	case t.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8:
		n.types, n.bind, n.named = typeString, bindBytes, nil
		return n, nil
	case t.Kind() == reflect.Map:
		key := t.Key()
		if key.Kind() != reflect.String || key.Implements(textMarshaler) || reflect.PointerTo(key).Implements(textMarshaler) {
			return nil, fmt.Errorf("%s: the keys of a map must be plain strings", typeWords(t))
		}
		n.types, n.bind, n.obj = typeObject, bindMap, &object{max: -1}
	case t.Kind() == reflect.Array:
		n.types, n.bind, n.arr = typeArray, bindArray, &arrayRules{min: t.Len(), max: t.Len()}
	default:
		n.types, n.bind, n.arr = typeArray, bindSlice, &arrayRules{max: -1}
	}
	items, err := c.node(elem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", typeWords(t), err)
	}
	if n.obj != nil {
		n.obj.extra = items
	} else {
		n.arr.items = items
	}
	return n, nil
}

// enumOf returns the values that the Enum method of a type lists, or nil.
func enumOf(n *node, t reflect.Type) (e *enumRules, err error) {
	if methodless(t) {
		return nil, nil
	}
	method := reflect.New(t).MethodByName("Enum")
	if !method.IsValid() {
		return nil, nil
	}
	m := method.Type()
	if m.NumIn() != 0 || m.NumOut() != 1 || m.Out(0).Kind() != reflect.Slice {
		return nil, fmt.Errorf("the Enum method of %s must take nothing and return a slice of the values", t)
	}
	defer func() {
		if p := recover(); p != nil {
			e, err = nil, fmt.Errorf("the Enum method of %s panics on the zero value: %v", t, p)
		}
	}()
	list := method.Call(nil)[0]
	var values [][]byte
	for i := range list.Len() {
		text, err := enumValue(n, list.Index(i))
		if err != nil {
			return nil, fmt.Errorf("the Enum method of %s: value %d: %w", t, i, err)
		}
		if slices.ContainsFunc(values, func(v []byte) bool { return string(v) == string(text) }) {
			return nil, fmt.Errorf("the Enum method of %s lists %s twice", t, text)
		}
		values = append(values, text)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the Enum method of %s returns no values", t)
	}
	return newEnum(false, values), nil
}

// enumValue returns the JSON form of one value of an Enum method, which must be of the type
// itself, or of a basic kind that converts to it.
func enumValue(n *node, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil, fmt.Errorf("is nil")
	}
	if n.bind == bindText && v.Kind() == reflect.String && v.Type() != n.goType {
		return json.Marshal(v.String())
	}
	if v.Type() != n.goType && (v.Kind() != n.goType.Kind() || !v.CanConvert(n.goType)) {
		return nil, fmt.Errorf("is a %s, not a %s", v.Type(), n.goType)
	}
	place := reflect.New(n.goType).Elem()
	place.Set(v.Convert(n.goType))
	plain := *n
	plain.enum = nil
	plain.seal()
	w := writer{write: true}
	w.value(&plain, &path{}, place)
	if w.faults != nil {
		return nil, fmt.Errorf("%s", w.faults[0].Message)
	}
	return w.buf, nil
}

// typeName returns a name for a type in $defs: without its package, and for an instance of a
// generic type with the names of its arguments joined on.
func typeName(t reflect.Type) string {
	name := t.Name()
	base, arguments, generic := strings.Cut(name, "[")
	if !generic {
		return base
	}
	for _, argument := range strings.FieldsFunc(strings.TrimSuffix(arguments, "]"), func(r rune) bool {
		return strings.ContainsRune("[], *", r)
	}) {
		if i := strings.LastIndexAny(argument, "./"); i >= 0 {
			argument = argument[i+1:]
		}
		if i := strings.IndexRune(argument, '·'); i >= 0 {
			argument = argument[:i] // a type declared inside a function
		}
		if argument != "" {
			base += strings.ToUpper(argument[:1]) + argument[1:]
		}
	}
	return base
}
