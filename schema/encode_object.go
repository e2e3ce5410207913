package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// object writes a struct.
func (w *writer) object(n *node, at *path, v reflect.Value) {
	if !w.enter(at) {
		return
	}
	w.text("{")
	first := true
	here := path{up: at, step: stepField} // outside the loop, or it would not stay on the stack
	for i := range n.obj.fields {
		f := &n.obj.fields[i]
		if f.node.passes && f.omit == 0 && !w.write {
			continue
		}
		here.field, here.secret = f, at.secret || f.secret
		if f.place == nowhere { // the discriminator of a variant
			w.name(f, &first)
			w.text(string(f.node.enum.text[1 : len(f.node.enum.text)-1]))
			continue
		}
		value := v
		if f.place >= 0 { // what in does, without a call for each field
			value = v.Field(int(f.place))
		} else {
			value = f.deepIn(v)
		}
		if f.omit != 0 && f.omits(value) {
			if f.required {
				w.add(&here, "required", missingMessage, f.node.allowedValues())
			}
			continue
		}
		w.name(f, &first)
		w.value(f.node, &here, value)
		if w.full() {
			return
		}
	}
	w.text("}")
	w.depth--
}

// name writes the name of a field and what stands before it.
func (w *writer) name(f *field, first *bool) {
	if !w.write {
		return
	}
	if !*first {
		w.buf = append(w.buf, ',')
	}
	*first = false
	w.buf = append(w.buf, f.quoted...)
}

// omits reports whether a Go value stands for a missing member.
func (f *field) omits(v reflect.Value) bool {
	if f.omit&omitNil != 0 && v.IsNil() {
		return true
	}
	if f.omit&omitZero != 0 && v.IsZero() {
		return true
	}
	if f.omit&omitMethod != 0 {
		if z, ok := addressed(v).(interface{ IsZero() bool }); ok && z.IsZero() {
			return true
		}
	}
	return f.omit&omitEmpty != 0 && isEmpty(v)
}

// isEmpty follows encoding/json.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// mapping writes a map.
func (w *writer) mapping(n *node, at *path, v reflect.Value) {
	if n.nullable && v.IsNil() {
		w.text("null")
		return
	}
	if !w.enter(at) {
		return
	}
	w.text("{")
	names := make([]string, 0, v.Len())
	for entries := v.MapRange(); entries.Next(); {
		names = append(names, entries.Key().String())
	}
	slices.SortFunc(names, strings.Compare)
	elem := reflect.New(v.Type().Elem()).Elem()
	here := path{up: at, step: stepKey, secret: at.secret}
	for i, name := range names {
		if i > 0 {
			w.text(",")
		}
		here.name = name
		if !validUTF8(name) {
			w.add(at, "utf8", "a key is not valid UTF-8", nil)
		}
		if w.write {
			w.buf = append(strictjson.AppendString(w.buf, name), ':')
		}
		elem.Set(v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key())))
		w.value(n.obj.extra, &here, elem)
		if w.full() {
			return
		}
	}
	w.text("}")
	w.depth--
}

// variant writes what an interface holds.
func (w *writer) variant(n *node, at *path, v reflect.Value) {
	if v.IsNil() {
		w.nothing(n, at)
		return
	}
	variant, inner := n.variantOf(v)
	if variant == nil {
		w.add(at, "enum", "must be one of the variants", n.union.allowed)
		return
	}
	w.value(variant, at, inner)
}

// variantOf returns the variant that an interface holds and its struct, or nil: when it is of
// another type or a nil pointer.
func (n *node) variantOf(v reflect.Value) (*node, reflect.Value) {
	if v.IsNil() {
		return nil, v
	}
	v = v.Elem()
	for i, t := range n.union.goTypes {
		if v.Type() != t {
			continue
		}
		if t.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil, v
			}
			v = v.Elem()
		}
		return n.union.variants[i], v
	}
	return nil, v
}
