package schema

import (
	"reflect"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// string reads a string.
func (s *scanner) string(n *node, at *path, dst reflect.Value) bool {
	start := s.pos
	end, escaped, err := strictjson.String(s.data, start)
	if err != nil {
		return s.fail(at, err)
	}
	if n.types&typeString == 0 {
		return s.mistyped(n, at)
	}
	s.pos = end
	text := s.data[start+1 : end-1]
	if escaped {
		s.scratch = strictjson.AppendUnquoted(s.scratch[:0], text)
		text = s.scratch
	}
	if n.str != nil && !n.str.kept(len(text)) {
		checkString(&s.report, n.str, at, text)
	}
	if n.enum != nil {
		i := checkEnumString(&s.report, n.enum, at, text)
		if i >= 0 && n.bind == bindString && dst.IsValid() {
			dst.SetString(n.enum.strings[i]) // shares the text with the schema
			return true
		}
	}
	switch {
	case n.bind == bindString:
		if dst.IsValid() {
			dst.SetString(string(text))
		}
	case n.bind != bindNothing:
		if message := bindFromText(n, text, dst); message != "" {
			s.addEcho(at, "format", message, quoted(text), nil)
		}
	}
	return !s.full()
}

// number reads a number.
func (s *scanner) number(n *node, at *path, dst reflect.Value) bool {
	start := s.pos
	end, digits, err := strictjson.Number(s.data, start)
	if err != nil {
		return s.fail(at, err)
	}
	literal := s.data[start:end]
	if n.types&(typeInteger|typeNumber) == 0 {
		return s.mistyped(n, at)
	}
	if !digits || len(literal) > 18 {
		return s.longNumber(n, at, dst, end)
	}
	s.pos = end
	i := smallInteger(literal)
	if n.num != nil && !n.num.integer(i) {
		d := parseDecimal(literal)
		s.checkNumber(n.num, at, &d, literal)
	}
	if dst.IsValid() {
		switch n.bind {
		case bindInt:
			dst.SetInt(i)
		case bindUint:
			dst.SetUint(uint64(i))
		case bindFloat:
			f, _ := strconv.ParseFloat(string(literal), dst.Type().Bits())
			dst.SetFloat(f)
		}
	}
	if n.enum != nil {
		d := parseDecimal(literal)
		s.checkEnumNumber(n.enum, at, &d, literal)
	}
	return !s.full()
}

// smallInteger converts at most 18 digits with or without a sign.
func smallInteger(literal []byte) int64 {
	negative := literal[0] == '-'
	if negative {
		literal = literal[1:]
	}
	var n int64
	for _, c := range literal {
		n = n*10 + int64(c-'0')
	}
	if negative {
		return -n
	}
	return n
}

// longNumber reads a number with many digits, a fraction or an exponent.
func (s *scanner) longNumber(n *node, at *path, dst reflect.Value, end int) bool {
	start := s.pos
	literal := s.data[start:end]
	d := parseDecimal(literal)
	s.pos = end
	if n.types&typeNumber == 0 && !d.integral() {
		s.addEcho(at, "type", "must be a whole number", cut(literal, echoLimit), nil)
		return !s.full()
	}
	before := len(s.faults)
	if n.num != nil {
		s.checkNumber(n.num, at, &d, literal)
	}
	if len(s.faults) > before {
		return !s.full()
	}
	ok := true
	switch n.bind {
	case bindInt:
		var i int64
		if i, ok = d.int64(); ok && dst.IsValid() {
			dst.SetInt(i)
		}
	case bindUint:
		var u uint64
		if u, ok = d.uint64(); ok && dst.IsValid() {
			dst.SetUint(u)
		}
	case bindFloat:
		ok = s.setFloat(n, literal, &d, dst)
	}
	if !ok {
		s.outOfRange(at, &d, literal)
	} else if n.enum != nil {
		s.checkEnumNumber(n.enum, at, &d, literal)
	}
	return !s.full()
}

// setFloat sets dst and reports whether the number fits. Digits beyond the precision are
// rounded away, as everywhere; a number too small becomes zero.
func (s *scanner) setFloat(n *node, literal []byte, d *decimal, dst reflect.Value) bool {
	if !dst.IsValid() && d.exp < 38 {
		return true // fits even a float32
	}
	f, err := strconv.ParseFloat(string(literal), n.goType.Bits())
	if err == nil && dst.IsValid() {
		dst.SetFloat(f)
	}
	return err == nil
}

// outOfRange reports a number that its Go type can't hold.
func (s *scanner) outOfRange(at *path, d *decimal, literal []byte) {
	rule, message := "maximum", "is larger than this service can hold; send a smaller number"
	if d.negative {
		rule, message = "minimum", "is below what this service can hold; send a larger number"
	}
	if !at.secret {
		message = "the number " + cut(literal, echoLimit) + " " + message
	}
	s.add(at, rule, message, nil)
}
