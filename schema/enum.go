package schema

import (
	"bytes"
	"slices"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// enumRules are the values that alone are accepted, of enum or const.
type enumRules struct {
	single  bool     // the rule is const, not enum
	text    []byte   // all values, as a JSON array in the order given
	strings []string // those that are strings
	keys    [][]byte // equality keys of the others
	allowed []any    // all, for faults
}

// newEnum compiles values, each a valid JSON text. The rule is enum or, with single, const.
func newEnum(single bool, values [][]byte) *enumRules {
	e := &enumRules{single: single, text: slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))}
	e.allowed = make([]any, len(values))
	for i, value := range values {
		switch c := value[0]; {
		case c == '"':
			s := stringValue(value)
			if e.strings == nil {
				e.strings = make([]string, 0, len(values)-i)
			}
			e.strings, e.allowed[i] = append(e.strings, s), s
		case c == '-' || c-'0' <= 9:
			e.keys, e.allowed[i] = append(e.keys, appendKey(nil, value)), allowedNumber(value)
		default:
			e.keys, e.allowed[i] = append(e.keys, appendKey(nil, value)), plainValue(value)
		}
	}
	return e
}

// rule names the keyword.
func (e *enumRules) rule() string {
	if e.single {
		return "const"
	}
	return "enum"
}

// values lists all values, as JSON, in the order given.
func (e *enumRules) values() [][]byte {
	list := make([][]byte, 0, len(e.allowed))
	for elements := strictjson.Elements(e.text, strictjson.MaxDepth); elements.Next(); {
		list = append(list, elements.Value())
	}
	return list
}

// and returns the rules that accept what both accept; e may be nil.
func (e *enumRules) and(other *enumRules) *enumRules {
	if e == nil {
		return other
	}
	var both [][]byte
	for _, value := range e.values() {
		if other.has(value) {
			both = append(both, value)
		}
	}
	return newEnum(true, both)
}

// has reports whether an equal value is listed.
func (e *enumRules) has(value []byte) bool {
	key := appendKey(nil, value)
	return slices.ContainsFunc(e.values(), func(known []byte) bool { return bytes.Equal(appendKey(nil, known), key) })
}

// allowedNumber returns an accepted number for a fault. Integers stay exact.
func allowedNumber(value []byte) any {
	d := parseDecimal(value)
	if i, ok := d.int64(); ok {
		return i
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
		r.unlisted(e, at, value)
	}
	return i
}

// checkEnumNumber reports a number that is not among the values; literal is its JSON form.
func (r *report) checkEnumNumber(e *enumRules, at *path, d *decimal, literal []byte) {
	var space [32]byte
	if !e.hasKey(d.appendKey(space[:0])) {
		r.unlisted(e, at, cut(literal, echoLimit))
	}
}

// checkEnumJSON reports a value, neither string nor number, that is not among the values.
func (r *report) checkEnumJSON(e *enumRules, at *path, value []byte) {
	if len(e.keys) == 0 || !e.hasKey(appendKey(nil, value)) {
		r.unlisted(e, at, cut(value, echoLimit))
	}
}

// hasKey reports whether a value with the equality key is listed, strings aside.
func (e *enumRules) hasKey(key []byte) bool {
	for _, known := range e.keys {
		if string(known) == string(key) {
			return true
		}
	}
	return false
}

// unlisted reports a value that is not among those of e.
func (r *report) unlisted(e *enumRules, at *path, value string) {
	message := "must be one of the allowed values"
	if e.single {
		message = "must be the one allowed value"
	}
	r.addEcho(at, e.rule(), message, value, e.allowed)
}
