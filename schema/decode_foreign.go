package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// foreign reads a value whose shape the tree does not fix, and keeps it the way n says.
func (s *scanner) foreign(n *node, at *path, dst reflect.Value) bool {
	start, before := s.pos, len(s.faults)
	if n.described != nil {
		if !s.value(n.described, at, reflect.Value{}) {
			return false
		}
	} else if !s.free(at, n.bind == bindAny) {
		return false
	}
	raw := s.data[start:s.pos]
	switch {
	case len(s.faults) > before:
	case n.bind == bindMethods:
		if !dst.IsValid() {
			dst = reflect.New(n.goType).Elem()
		}
		if !jsonFrom(raw, dst) {
			s.add(at, "format", "is not in the form that is expected here", nil)
		}
	case !dst.IsValid():
	case n.bind == bindRaw:
		dst.SetBytes(bytes.Clone(raw))
	case n.bind == bindAny:
		if v := plainValue(raw); v != nil {
			dst.Set(reflect.ValueOf(v))
		}
	}
	return !s.full()
}

// jsonFrom calls the UnmarshalJSON method of the value, which gets a copy of the text.
func jsonFrom(raw []byte, dst reflect.Value) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // a method that panics on a text does not accept it
		}
	}()
	target, is := dst.Addr().Interface().(json.Unmarshaler)
	return is && target.UnmarshalJSON(bytes.Clone(raw)) == nil
}

// skip passes over a value that is not looked at, because what is wrong was said already.
func (s *scanner) skip(at *path) bool {
	end, err := strictjson.Skip(s.data, s.pos, s.depth)
	if err != nil {
		return s.fail(at, err)
	}
	s.pos = end
	return true
}

// free reads a value of any shape. Keys must still be unique. If floats is set, numbers are
// going to be kept as float64 and must survive that.
func (s *scanner) free(at *path, floats bool) bool {
	if s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '{':
			return s.freeObject(at, floats)
		case c == '[':
			return s.freeArray(at, floats)
		case floats && (c == '-' || c-'0' <= 9):
			start := s.pos
			if !s.skip(at) {
				return false
			}
			s.checkFloat(at, s.data[start:s.pos])
			return !s.full()
		}
	}
	return s.skip(at)
}

func (s *scanner) freeObject(at *path, floats bool) bool {
	if s.depth == 0 {
		return s.tooDeep(at)
	}
	s.depth--
	defer func() { s.depth++ }()
	s.pos = strictjson.Space(s.data, s.pos+1)
	if s.pos < len(s.data) && s.data[s.pos] == '}' {
		s.pos++
		return true
	}
	var keys strictjson.Keys
	here := path{up: at, step: stepText, secret: at.secret} // outside the loop, or it would not stay on the stack
	for more := true; more; {
		here.index = s.pos
		end, escaped, err := strictjson.String(s.data, s.pos)
		if err != nil {
			return s.fail(at, err)
		}
		key := s.data[s.pos+1 : end-1]
		if escaped {
			key = strictjson.Unquote(key)
		}
		if s.pos, err = strictjson.Colon(s.data, end); err != nil {
			return s.fail(at, err)
		}
		if !keys.Add(key) {
			s.duplicate(&here)
		}
		if !s.free(&here, floats) {
			return false
		}
		if s.pos, more, err = strictjson.Next(s.data, s.pos, '}'); err != nil {
			return s.fail(at, err)
		}
	}
	return !s.full()
}

func (s *scanner) freeArray(at *path, floats bool) bool {
	if s.depth == 0 {
		return s.tooDeep(at)
	}
	s.depth--
	defer func() { s.depth++ }()
	s.pos = strictjson.Space(s.data, s.pos+1)
	if s.pos < len(s.data) && s.data[s.pos] == ']' {
		s.pos++
		return true
	}
	here := path{up: at, step: stepElement, secret: at.secret}
	for more := true; more; here.index++ {
		if !s.free(&here, floats) {
			return false
		}
		var err error
		if s.pos, more, err = strictjson.Next(s.data, s.pos, ']'); err != nil {
			return s.fail(at, err)
		}
	}
	return true
}

// maxExact is 2^53: up to it a float64 holds every integer.
const maxExact = 1 << 53

// checkFloat reports a number that would not survive being kept as a float64: an integer
// beyond 2^53, or one out of range.
func (s *scanner) checkFloat(at *path, literal []byte) {
	d := parseDecimal(literal)
	if d.exp <= 15 {
		return
	}
	f, err := strconv.ParseFloat(string(literal), 64)
	switch {
	case err != nil:
		s.outOfRange(at, &d, literal)
	case !d.integral():
	case plainDigits(literal) && (f > maxExact || f < -maxExact), !sameNumber(&d, f):
		s.addEcho(at, "maximum", "whole numbers here must be within 2^53 to stay exact; send it as a string",
			cut(literal, echoLimit), nil)
	}
}

func plainDigits(literal []byte) bool { return !bytes.ContainsAny(literal, ".eE") }

// sameNumber reports whether f is written with the digits of d.
func sameNumber(d *decimal, f float64) bool {
	var space [32]byte
	other := parseDecimal(strconv.AppendFloat(space[:0], f, 'e', -1, 64))
	return d.compare(&other) == 0
}

// plainValue converts a valid JSON text into nil, a bool, a float64, a string, a []any or a
// map[string]any.
func plainValue(text []byte) any {
	switch c := text[0]; {
	case c == '"':
		return string(strictjson.Unquote(text[1 : len(text)-1]))
	case c == '[':
		list := []any{}
		for elements := strictjson.Elements(text, strictjson.MaxDepth); elements.Next(); {
			list = append(list, plainValue(elements.Value()))
		}
		return list
	case c == '{':
		object := map[string]any{}
		for members := strictjson.Members(text, strictjson.MaxDepth); members.Next(); {
			object[string(members.Key())] = plainValue(members.Value())
		}
		return object
	case c == 't':
		return true
	case c == 'f':
		return false
	case c == 'n':
		return nil
	}
	f, _ := strconv.ParseFloat(string(text), 64)
	return f
}
