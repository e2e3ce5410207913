package schema

import (
	"strconv"
	"unicode/utf8"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

const (
	// echoLimit is how many bytes of a value a message repeats.
	echoLimit = 32
	// keyLimit is how many bytes of a foreign key a pointer repeats.
	keyLimit = 64
)

// path leads from a value up to the root. It lives on the stack of the walk and is written out
// only when there is something to report.
type path struct {
	up     *path
	field  *field // the member, if it is a field of an object
	name   string // of a member that is none, unless it is only in the text
	index  int    // of an element, or the place of a name in the text
	step   step
	secret bool // this value and all below it are never repeated
}

// step is how a path goes on from the one above it.
type step uint8

const (
	stepNone    step = iota // the root
	stepField               // a field of an object
	stepName                // another member that the schema names
	stepKey                 // a member that it does not, by name
	stepText                // a member that it does not, by the place of its name
	stepElement             // an element of an array
)

// appendPointer writes a path as a JSON Pointer. A foreign key below a secret is left out.
func (r *report) appendPointer(dst []byte, p *path) []byte {
	if p == nil || p.step == stepNone {
		return dst
	}
	dst = r.appendPointer(dst, p.up)
	foreign := p.step == stepKey || p.step == stepText
	if foreign && p.up.secret {
		return dst
	}
	dst = append(dst, '/')
	switch p.step {
	case stepField:
		return appendToken(dst, p.field.name())
	case stepName:
		return appendToken(dst, p.name)
	case stepKey:
		return appendToken(dst, cut(p.name, keyLimit))
	case stepText:
		return appendToken(dst, cut(stringAt(r.data, p.index), keyLimit))
	}
	return strconv.AppendInt(dst, int64(p.index), 10)
}

// stringAt decodes the string that begins at data[i].
func stringAt(data []byte, i int) []byte {
	end, escaped, err := strictjson.String(data, i)
	switch {
	case err != nil:
		return nil
	case escaped:
		return strictjson.Unquote(data[i+1 : end-1])
	}
	return data[i+1 : end-1]
}

// appendToken escapes one reference token, RFC 6901 section 3.
func appendToken(dst []byte, token string) []byte {
	for i := 0; i < len(token); i++ {
		switch c := token[i]; c {
		case '~':
			dst = append(dst, '~', '0')
		case '/':
			dst = append(dst, '~', '1')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// cut returns at most limit bytes of s, whole characters, with an ellipsis if more was there.
func cut[S ~string | ~[]byte](s S, limit int) string {
	if len(s) <= limit {
		return string(s)
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return string(s[:limit]) + "…"
}

// report collects the faults of one check.
type report struct {
	data   []byte // the text that is walked, if any
	faults []Fault
	hints  int // suggestions made
}

// full reports whether no further fault is wanted.
func (r *report) full() bool { return len(r.faults) >= MaxFaults }

// add records a fault at a place.
func (r *report) add(at *path, rule, message string, allowed []any) {
	if r.full() {
		return
	}
	if r.faults == nil {
		r.faults = make([]Fault, 0, 6)
	}
	var space [64]byte
	r.faults = append(r.faults, Fault{Pointer: string(r.appendPointer(space[:0], at)), Rule: rule, Message: message, Allowed: allowed})
}

// addEcho records a fault whose message ends with the value, cut short, unless it is secret.
func (r *report) addEcho(at *path, rule, message, value string, allowed []any) {
	if !at.secret {
		message += ", not " + value
	}
	r.add(at, rule, message, allowed)
}
