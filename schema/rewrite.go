package schema

import (
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// rewrite copies a JSON text while it walks it together with the tree, and lets replace take
// values over. It follows the tree as checking does: members to their fields, elements to the
// items, unions to the variant that the value names.
//
// replace appends another text for the value at the pointer, whose rules are n (nil: none), and
// returns true; or it returns false, and the value is walked.
type rewrite struct {
	replace func(dst []byte, n *node, secret bool, pointer, data []byte) ([]byte, bool)
}

// value copies one value, which must be valid JSON.
func (w *rewrite) value(dst []byte, n *node, secret bool, pointer, data []byte) []byte {
	if replaced, done := w.replace(dst, n, secret, pointer, data); done {
		return replaced
	}
	switch {
	case n == nil || len(data) == 0:
		return append(dst, data...)
	case n.union != nil:
		return w.value(dst, n.union.chosen(data), secret, pointer, data)
	case n.branches != nil:
		return w.value(dst, n.branchFor(typeOfByte(data[0])), secret, pointer, data)
	case n.obj == nil && n.arr == nil && n.described != nil:
		return w.value(dst, n.described, secret, pointer, data)
	case data[0] == '{' && n.obj != nil:
		return w.object(dst, n.obj, pointer, data)
	case data[0] == '[' && n.arr != nil:
		return w.array(dst, n.arr, pointer, data)
	}
	return append(dst, data...)
}

func (w *rewrite) array(dst []byte, rules *arrayRules, pointer, data []byte) []byte {
	dst = append(dst, '[')
	elements := strictjson.Elements(data, strictjson.MaxDepth)
	for i := 0; elements.Next(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		below := strconv.AppendInt(append(pointer[:len(pointer):len(pointer)], '/'), int64(i), 10)
		dst = w.value(dst, rules.items, false, below, elements.Value())
	}
	return append(dst, ']')
}

func (w *rewrite) object(dst []byte, o *object, pointer, data []byte) []byte {
	dst = append(dst, '{')
	members := strictjson.Members(data, strictjson.MaxDepth)
	for i := 0; members.Next(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strictjson.AppendString(dst, members.Key()), ':')
		below := appendToken(append(pointer[:len(pointer):len(pointer)], '/'), string(members.Key()))
		if f := o.find(members.Key()); f >= 0 {
			dst = w.value(dst, o.fields[f].node, o.fields[f].secret, below, members.Value())
		} else {
			dst = w.value(dst, o.extra, false, below, members.Value())
		}
	}
	return append(dst, '}')
}

// chosen returns the variant that an object names, or nil.
func (u *unionRules) chosen(data []byte) *node {
	if data[0] != '{' {
		return nil
	}
	members := strictjson.Members(data, strictjson.MaxDepth)
	for members.Next() {
		value := members.Value()
		if string(members.Key()) != u.discriminator || len(value) < 2 || value[0] != '"' {
			continue
		}
		if i := u.variant(strictjson.Unquote(value[1 : len(value)-1])); i >= 0 {
			return u.variants[i]
		}
	}
	return nil
}
