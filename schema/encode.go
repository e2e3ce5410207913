package schema

import (
	"math"
	"reflect"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// CheckValue checks a Go value, which must be of the schema's type, as [Schema.Check] would
// check its JSON form, without making it. It returns nil if all is well. If the value is
// addressable, nothing is allocated on success; values that define their JSON by methods, any
// and unique items are the exceptions.
//
// For a parsed schema the value must be a json.RawMessage or a []byte.
func (s *Schema) CheckValue(v reflect.Value) []Fault {
	w := writer{}
	w.root(s, v)
	return w.faults
}

// Append checks a Go value as [Schema.CheckValue] does and appends its JSON form to dst in the
// same walk. With faults it returns dst as it came.
//
// Members stand in the order of the published schema, those of maps are sorted. A field that
// may be missing is left out if it is a nil pointer, or as omitempty and omitzero say, or if it
// is zero and has a default or the tag required:"false". A nil slice is [], a nil map {}, or
// null if they are nullable.
func (s *Schema) Append(dst []byte, v reflect.Value) ([]byte, []Fault) {
	w := writer{buf: dst, write: true}
	w.root(s, v)
	if w.faults != nil {
		return dst, w.faults
	}
	return w.buf, nil
}

// writer walks a Go value and the tree together.
type writer struct {
	report
	buf   []byte
	write bool
	depth int // arrays and objects that enclose the value
}

func (w *writer) root(s *Schema, v reflect.Value) {
	at := path{}
	if s.goType == nil {
		w.raw(v.Bytes(), s.root, &at)
		return
	}
	w.value(s.root, &at, v)
}

// text appends s if the walk writes.
func (w *writer) text(s string) {
	if w.write {
		w.buf = append(w.buf, s...)
	}
}

// value checks v and writes it.
func (w *writer) value(n *node, at *path, v reflect.Value) {
	if n.pointers > 0 {
		for range n.pointers {
			if v.IsNil() {
				w.nothing(n, at)
				return
			}
			v = v.Elem()
		}
	}
	switch n.bind {
	case bindString:
		w.string(n, at, v.String())
	case bindInt:
		w.int(n, at, v.Int())
	case bindUint:
		w.uint(n, at, v.Uint())
	case bindBool:
		w.bool(n, at, v.Bool())
	case bindFloat:
		w.float(n, at, v.Float(), v.Type().Bits())
	case bindStruct:
		w.object(n, at, v)
	case bindMap:
		w.mapping(n, at, v)
	case bindSlice, bindArray:
		w.array(n, at, v)
	case bindUnion:
		w.variant(n, at, v)
	case bindTime, bindDuration, bindBytes, bindText:
		w.textForm(n, at, v)
	default:
		w.foreign(n, at, v)
	}
}

// nothing writes the null that stands for a nil pointer, slice, map or interface.
func (w *writer) nothing(n *node, at *path) {
	if !n.nullable && n.types&typeNull == 0 {
		w.mistyped(n, at, typeNull)
		return
	}
	w.text("null")
}

func (w *writer) string(n *node, at *path, s string) {
	if !validUTF8(s) {
		w.add(at, "utf8", "is not valid UTF-8", nil)
		return
	}
	if n.str != nil && !n.str.kept(len(s)) {
		checkString(&w.report, n.str, at, s)
	}
	if n.enum != nil {
		checkEnumString(&w.report, n.enum, at, s)
	}
	if w.write {
		w.buf = strictjson.AppendString(w.buf, s)
	}
}

func (w *writer) bool(n *node, at *path, b bool) {
	text := "false"
	if b {
		text = "true"
	}
	if n.enum != nil {
		w.checkEnumJSON(n.enum, at, []byte(text))
	}
	w.text(text)
}

func (w *writer) int(n *node, at *path, i int64) {
	if n.num != nil && !n.num.integer(i) || n.enum != nil {
		var space [24]byte
		w.numeral(n, at, strconv.AppendInt(space[:0], i, 10))
	}
	if w.write {
		w.buf = strconv.AppendInt(w.buf, i, 10)
	}
}

func (w *writer) uint(n *node, at *path, u uint64) {
	if n.num != nil && (u > math.MaxInt64 || !n.num.integer(int64(u))) || n.enum != nil {
		var space [24]byte
		w.numeral(n, at, strconv.AppendUint(space[:0], u, 10))
	}
	if w.write {
		w.buf = strconv.AppendUint(w.buf, u, 10)
	}
}

func (w *writer) float(n *node, at *path, f float64, size int) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.add(at, "type", "must be a finite number", nil)
		return
	}
	if n.enum != nil || n.num != nil && !n.num.within(f) {
		var space [32]byte
		w.numeral(n, at, appendFloat(space[:0], f, size))
	}
	if w.write {
		w.buf = appendFloat(w.buf, f, size)
	}
}

// within reports whether f is for certain within the limits. As rounding keeps the order, a
// number whose float64 is beyond that of a limit is beyond the limit.
func (r *numberRules) within(f float64) bool {
	return r.multipleOf == nil &&
		(r.minimum == nil || f > r.minimum.nearest) &&
		(r.exclusiveMinimum == nil || f > r.exclusiveMinimum.nearest) &&
		(r.maximum == nil || f < r.maximum.nearest) &&
		(r.exclusiveMaximum == nil || f < r.exclusiveMaximum.nearest)
}

// numeral checks a number by its JSON form.
func (w *writer) numeral(n *node, at *path, literal []byte) {
	d := parseDecimal(literal)
	if n.num != nil {
		w.checkNumber(n.num, at, &d, literal)
	}
	if n.enum != nil {
		w.checkEnumNumber(n.enum, at, &d, literal)
	}
}

// appendFloat writes the shortest form that reads back as f, with an exponent only where the
// number would be long without.
func appendFloat(dst []byte, f float64, size int) []byte {
	form := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs > maxExact) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, size)
}

// array writes a slice or an array.
func (w *writer) array(n *node, at *path, v reflect.Value) {
	if n.nullable && n.bind == bindSlice && v.IsNil() {
		w.text("null")
		return
	}
	if !w.enter(at) {
		return
	}
	w.text("[")
	count := v.Len()
	rules := n.arr
	var seen *distinct
	if rules.unique {
		seen = &distinct{}
	}
	here := path{up: at, step: stepElement, secret: at.secret}
	walked := count
	if rules.items.passes && seen == nil && !w.write {
		walked = 0
	}
	for i := range walked {
		if i > 0 {
			w.text(",")
		}
		here.index = i
		if seen == nil {
			w.value(rules.items, &here, v.Index(i))
		} else {
			w.uniqueItem(rules.items, &here, v.Index(i), seen)
		}
		if w.full() {
			return
		}
	}
	w.text("]")
	w.depth--
	if count < rules.min || rules.max >= 0 && count > rules.max {
		w.checkLength(at, count, rules.min, rules.max, "minItems", "maxItems", "item")
	}
}

// uniqueItem writes an element and compares its JSON form with those before it.
func (w *writer) uniqueItem(n *node, at *path, v reflect.Value, seen *distinct) {
	before, faults := len(w.buf), len(w.faults)
	write := w.write
	w.write = true
	w.value(n, at, v)
	w.write = write
	if len(w.faults) == faults && !seen.add(w.buf[before:]) {
		w.add(at, "uniqueItems", "must differ from all items before it; leave out repeated items", nil)
	}
	if !write {
		w.buf = w.buf[:before]
	}
}

// enter opens an array or object. Go values can contain themselves, so that their depth has
// to be limited as that of bytes is.
func (w *writer) enter(at *path) bool {
	if w.depth == DefaultDepth {
		w.add(at, "depth", "the value is nested too deep", nil)
		return false
	}
	w.depth++
	return true
}
