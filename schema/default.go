package schema

import "reflect"

// Complete fills the defaults into a Go value, for calls that never were JSON: a field that is
// not a pointer gets its default if it is zero, a pointer if it is nil. The value must be of
// the type of the schema and addressable. What it refers to is changed in place: structs behind
// pointers and the elements of its slices and maps. A parsed schema has no Go values, and
// Complete does nothing.
func (s *Schema) Complete(v reflect.Value) {
	if s.goType != nil && s.root.defaults {
		s.root.supply(v, DefaultDepth)
	}
}

// supply fills in what is missing in v and below it, at most depth levels down.
func (n *node) supply(v reflect.Value, depth int) {
	if !n.defaults || depth == 0 {
		return
	}
	for range n.pointers {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch n.bind {
	case bindStruct:
		n.completeStruct(v, depth)
	case bindSlice, bindArray:
		for i := range v.Len() {
			n.arr.items.supply(v.Index(i), depth-1)
		}
	case bindMap:
		for _, key := range v.MapKeys() {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(v.MapIndex(key))
			n.obj.extra.supply(elem, depth-1)
			v.SetMapIndex(key, elem)
		}
	case bindUnion:
		n.completeVariant(v, depth)
	}
}

func (n *node) completeStruct(v reflect.Value, depth int) {
	for i := range n.obj.fields {
		f := &n.obj.fields[i]
		if f.place == nil || f.fallback == nil && !f.node.defaults {
			continue
		}
		at := f.in(v)
		if f.fallback != nil && at.IsZero() {
			f.fallback.set(f.node, at)
			continue
		}
		f.node.supply(at, depth-1)
	}
}

func (n *node) completeVariant(v reflect.Value, depth int) {
	variant, inner := n.variantOf(v)
	if variant == nil {
		return
	}
	if v.Elem().Kind() == reflect.Pointer {
		variant.supply(inner, depth)
		return
	}
	// What an interface holds can't be changed in place.
	copied := reflect.New(inner.Type()).Elem()
	copied.Set(inner)
	variant.supply(copied, depth)
	v.Set(copied)
}
