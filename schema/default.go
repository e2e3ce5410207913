package schema

import "reflect"

// Complete fills the defaults into a Go value, for calls that never were JSON: a field that is
// not a pointer gets its default if it is zero, a pointer if it is nil. The value must be of
// the type of the schema and addressable. What it refers to is not changed, since others may
// hold it too: pointers, slices and maps with a default below them are replaced by copies. A
// parsed schema has no Go values, and Complete does nothing.
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
		v = ownPointer(v)
	}
	switch n.bind {
	case bindStruct:
		n.completeStruct(v, depth)
	case bindSlice, bindArray:
		if n.bind == bindSlice && v.Len() > 0 {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			n.arr.items.supply(v.Index(i), depth-1)
		}
	case bindMap:
		if v.Len() == 0 {
			return
		}
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(entries.Value())
			n.obj.extra.supply(elem, depth-1)
			own.SetMapIndex(entries.Key(), elem)
		}
		v.Set(own)
	case bindUnion:
		n.completeVariant(v, depth)
	}
}

// ownPointer makes v point to a copy of what it points to, and returns that.
func ownPointer(v reflect.Value) reflect.Value {
	own := reflect.New(v.Type().Elem())
	own.Elem().Set(v.Elem())
	v.Set(own)
	return own.Elem()
}

func (n *node) completeStruct(v reflect.Value, depth int) {
	for i := range n.obj.fields {
		f := &n.obj.fields[i]
		if f.place == nowhere || f.fallback == nil && !f.node.defaults {
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
	if !variant.defaults {
		return
	}
	copied := reflect.New(inner.Type())
	copied.Elem().Set(inner)
	variant.supply(copied.Elem(), depth)
	if v.Elem().Kind() != reflect.Pointer {
		copied = copied.Elem()
	}
	v.Set(copied)
}
