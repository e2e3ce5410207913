package schema

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// canonicalDigits is how many digits a whole number may have in canonical form beyond those
// that it was written with, so that a short exponent does not become a long text.
const canonicalDigits = 64

// AppendCanonical checks data as [Schema.Check] does, fills in defaults, and appends the
// canonical form to dst: the form to digest, in which two texts that mean the same value are
// the same bytes. With faults it returns dst as it came. It is safe for concurrent use.
//
// The form is that of RFC 8785: no white space, members in the order of their names' UTF-16
// code units (section 3.2.3), strings with the fewest escapes, numbers as ECMAScript writes the
// nearest float64. Whole numbers are the exception where the schema says integer: they are
// written in all their digits, whatever they are, because services keep identifiers in them
// that a float64 cannot hold. One that an exponent makes more than 64 digits longer than its
// text is a fault of the rule maximum, and so is any other number beyond the range of a
// float64. A number that the form would change, such as 9007199254740993 where no type says
// integer, is a fault of the rule precision, so that nothing is acted on that was not sent.
// Only where the Go type is a float is it rounded, as decoding does.
//
// The text of a Go value is made with [Schema.Append] first. At most depth arrays and objects
// may enclose one another; depth <= 0 means [DefaultDepth].
func (s *Schema) AppendCanonical(dst, data []byte, depth int) ([]byte, []Fault) {
	sc := newScanner(data, depth)
	sc.fill = true
	if faults := sc.run(s.root, reflect.Value{}); faults != nil {
		return dst, faults
	}
	c := canonicalizer{buf: dst}
	c.value(s.root, &path{}, sc.filled())
	if c.faults != nil {
		return dst, c.faults
	}
	return c.buf, nil
}

// canonicalizer writes a checked text in canonical form, with the tree beside it for the type
// of its numbers.
type canonicalizer struct {
	report
	buf []byte
}

// value writes a value whose rules are n; nil: none.
func (c *canonicalizer) value(n *node, at *path, data []byte) {
	n = n.within(data)
	switch first := data[0]; {
	case first == '{':
		c.object(n, at, data)
	case first == '[':
		c.array(n, at, data)
	case first == '"':
		c.buf = strictjson.AppendString(c.buf, strictjson.Unquote(data[1:len(data)-1]))
	case first == '-' || first-'0' <= 9:
		c.number(n, at, data)
	default:
		c.buf = append(c.buf, data...)
	}
}

// within returns the node that says of which types the value and what is in it are, nil where
// none does: it follows unions, branches and descriptions as checking does.
func (n *node) within(data []byte) *node {
	for n != nil {
		switch {
		case n.union != nil:
			n = n.union.chosen(data)
		case n.branches != nil:
			n = n.branchFor(typeOfByte(data[0]))
		case n.obj == nil && n.arr == nil && n.described != nil:
			n = n.described
		default:
			return n
		}
	}
	return nil
}

func (c *canonicalizer) array(n *node, at *path, data []byte) {
	var items *node
	if n != nil && n.arr != nil {
		items = n.arr.items
	}
	c.buf = append(c.buf, '[')
	here := path{up: at, step: stepElement}
	for elements := strictjson.Elements(data, strictjson.MaxDepth); elements.Next(); here.index++ {
		if here.index > 0 {
			c.buf = append(c.buf, ',')
		}
		c.value(items, &here, elements.Value())
	}
	c.buf = append(c.buf, ']')
}

func (c *canonicalizer) object(n *node, at *path, data []byte) {
	type member struct{ key, value []byte }
	var room [16]member // enough for most, without an allocation
	all := room[:0]
	for members := strictjson.Members(data, strictjson.MaxDepth); members.Next(); {
		all = append(all, member{members.Key(), members.Value()})
	}
	slices.SortFunc(all, func(a, b member) int { return compareUTF16(a.key, b.key) })
	c.buf = append(c.buf, '{')
	here := path{up: at, step: stepKey}
	for i, m := range all {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.buf = append(strictjson.AppendString(c.buf, m.key), ':')
		var rules *node
		here.name, here.secret = "", at.secret
		if n != nil && n.obj != nil {
			rules = n.obj.extra
			if f := n.obj.find(m.key); f >= 0 {
				field := &n.obj.fields[f]
				rules, here.name, here.secret = field.node, field.name(), at.secret || field.secret
			}
		}
		if here.name == "" {
			here.name = string(m.key)
		}
		c.value(rules, &here, m.value)
	}
	c.buf = append(c.buf, '}')
}

// compareUTF16 compares two texts in UTF-8 as their UTF-16 code units would be. That is the
// order of the bytes, except that characters beyond U+FFFF, which begin with 0xF0 or more, are
// surrogates there and come before those from U+E000 on, which begin with 0xEE or 0xEF.
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		switch {
		case x == y:
		case x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0):
			return int(y) - int(x)
		default:
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func (c *canonicalizer) number(n *node, at *path, literal []byte) {
	if n != nil && n.types&typeInteger != 0 && n.types&typeNumber == 0 {
		c.integer(at, literal)
		return
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil {
		c.add(at, "maximum", "is beyond the numbers that a float64 holds; send it as a string", nil)
		return
	}
	if d := parseDecimal(literal); (n == nil || n.bind != bindFloat) && !sameNumber(&d, f) {
		c.add(at, "precision", "has more digits than are kept for this kind of call; send it as a string", nil)
		return
	}
	c.buf = appendNumber(c.buf, f)
}

// integer writes a whole number in all its digits.
func (c *canonicalizer) integer(at *path, literal []byte) {
	d := parseDecimal(literal)
	if d.exp > int64(len(literal)+canonicalDigits) {
		c.add(at, "maximum", "has more digits than are written out for this kind of call; send a smaller number", nil)
		return
	}
	if d.len() == 0 {
		c.buf = append(c.buf, '0')
		return
	}
	if d.negative {
		c.buf = append(c.buf, '-')
	}
	c.buf = append(append(c.buf, d.a...), d.b...)
	for range d.exp - int64(d.len()) {
		c.buf = append(c.buf, '0')
	}
}

// appendNumber writes f as ECMAScript does (ECMA-262, Number::toString; RFC 8785, section
// 3.2.2.3): the shortest digits, with an exponent below 1e-6 and from 1e21 on.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // -0 as well
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes an exponent of two digits at least: e-07 is e-7 there.
	if e := bytes.LastIndexByte(dst[start:], 'e') + start; len(dst)-e == 4 && dst[e+2] == '0' {
		dst = append(dst[:e+2], dst[e+3])
	}
	return dst
}
