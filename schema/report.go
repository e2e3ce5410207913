package schema

import (
	"strconv"
	"unicode/utf8"
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
	up      *path
	name    string // of a member
	key     []byte // of a member that is no field, in place of name
	index   int    // of an element, where member is unset
	member  bool
	foreign bool // the name was not given by the schema
	secret  bool // this value and all below it are never repeated
}

// pointer writes the path as a JSON Pointer. A foreign key below a secret is left out.
func (p *path) pointer() string {
	var space [64]byte
	return string(p.append(space[:0]))
}

func (p *path) append(dst []byte) []byte {
	if p == nil || p.up == nil {
		return dst
	}
	dst = p.up.append(dst)
	switch {
	case (p.foreign || p.key != nil) && p.up.secret:
		return dst
	case p.foreign:
		return appendToken(append(dst, '/'), cut(p.name, keyLimit))
	case p.key != nil:
		return appendToken(append(dst, '/'), cut(p.key, keyLimit))
	case p.member:
		return appendToken(append(dst, '/'), p.name)
	}
	return strconv.AppendInt(append(dst, '/'), int64(p.index), 10)
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
	r.faults = append(r.faults, Fault{Pointer: at.pointer(), Rule: rule, Message: message, Allowed: allowed})
}

// addEcho records a fault whose message ends with the value, cut short, unless it is secret.
func (r *report) addEcho(at *path, rule, message, value string, allowed []any) {
	if !at.secret {
		message += ", not " + value
	}
	r.add(at, rule, message, allowed)
}
