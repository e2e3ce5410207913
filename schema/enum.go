package schema

import (
	"bytes"
	"slices"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// enumRules are the values that alone are accepted, of enum or const.
type enumRules struct {
	rule    string   // "enum" or "const"
	strings []string // those that are strings
	numbers []decimal
	keys    [][]byte // equality keys of the others
	values  [][]byte // all, as JSON, in the order given
	allowed []any    // all, for faults
	message string
}

// newEnum compiles values, each a valid JSON text.
func newEnum(rule string, values [][]byte) *enumRules {
	e := &enumRules{rule: rule, values: values, message: "must be one of the allowed values"}
	if rule == "const" {
		e.message = "must be the one allowed value"
	}
	for _, value := range values {
		value = slices.Clip(value)
		switch c := value[0]; {
		case c == '"':
			e.strings = append(e.strings, string(strictjson.Unquote(value[1:len(value)-1])))
		case c == '-' || c-'0' <= 9:
			e.numbers = append(e.numbers, parseDecimal(value))
		default:
			e.keys = append(e.keys, appendKey(nil, value))
		}
		e.allowed = append(e.allowed, allowedValue(value))
	}
	return e
}

// and returns the rules that accept what both accept; e may be nil.
func (e *enumRules) and(other *enumRules) *enumRules {
	if e == nil {
		return other
	}
	var both [][]byte
	for _, value := range e.values {
		if other.has(value) {
			both = append(both, value)
		}
	}
	return newEnum("const", both)
}

// has reports whether an equal value is listed.
func (e *enumRules) has(value []byte) bool {
	key := appendKey(nil, value)
	return slices.ContainsFunc(e.values, func(known []byte) bool { return bytes.Equal(appendKey(nil, known), key) })
}

// allowedValue returns an accepted value for a fault. Integers stay exact.
func allowedValue(value []byte) any {
	if c := value[0]; c == '-' || c-'0' <= 9 {
		d := parseDecimal(value)
		if i, ok := d.int64(); ok {
			return i
		}
	}
	return plainValue(value)
}

// findString returns the place of s among the strings, or -1.
func findString[S ~string | ~[]byte](e *enumRules, s S) int {
	for i, known := range e.strings {
		if string(s) == known {
			return i
		}
	}
	return -1
}

// checkEnumString reports a string that is not among the values.
func checkEnumString[S ~string | ~[]byte](r *report, e *enumRules, at *path, s S) int {
	i := findString(e, s)
	if i < 0 {
		value := quoted(s)
		if near := r.nearestString(e, at, []byte(s)); near != "" {
			value += "; did you mean " + quoted(near) + "?"
		}
		r.addEcho(at, e.rule, e.message, value, e.allowed)
	}
	return i
}

// checkEnumNumber reports a number that is not among the values; literal is its JSON form.
func (r *report) checkEnumNumber(e *enumRules, at *path, d *decimal, literal []byte) {
	for i := range e.numbers {
		if d.compare(&e.numbers[i]) == 0 {
			return
		}
	}
	r.addEcho(at, e.rule, e.message, cut(literal, echoLimit), e.allowed)
}

// checkEnumJSON reports a value, neither string nor number, that is not among the values.
func (r *report) checkEnumJSON(e *enumRules, at *path, value []byte) {
	if len(e.keys) > 0 {
		key := appendKey(nil, value)
		if slices.ContainsFunc(e.keys, func(known []byte) bool { return string(known) == string(key) }) {
			return
		}
	}
	r.addEcho(at, e.rule, e.message, cut(value, echoLimit), e.allowed)
}
