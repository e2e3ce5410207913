package mcp

import "github.com/ambit-dev/ambit/internal/strictjson"

// reader goes through a JSON text in place, member by member and into objects,
// so that a message is scanned once. After the first error every method finds
// nothing.
type reader struct {
	text  []byte
	at    int
	err   error
	fresh bool // an object was entered and has had no member yet
}

// object enters the object at the reader's position; it reports false, and
// skips the value, where there is none.
func (r *reader) object() bool {
	if r.err != nil {
		return false
	}
	if r.at >= len(r.text) || r.text[r.at] != '{' {
		r.value()
		return false
	}
	r.at = strictjson.Space(r.text, r.at+1)
	r.fresh = true
	return true
}

// member moves to the value of the next member of the object that was entered
// last and returns its name, or leaves the object and reports false. A name
// that seen holds already is reported as repeated.
func (r *reader) member(seen *strictjson.Keys) (name []byte, repeated, ok bool) {
	if r.err != nil {
		return nil, false, false
	}
	if r.fresh {
		r.fresh = false
		if r.at < len(r.text) && r.text[r.at] == '}' {
			r.at++
			return nil, false, false
		}
	} else {
		next, more, err := strictjson.Next(r.text, r.at, '}')
		r.at, r.err = next, err
		if err != nil || !more {
			return nil, false, false
		}
	}
	end, escaped, err := strictjson.String(r.text, r.at)
	if err != nil {
		r.err = err
		return nil, false, false
	}
	name = r.text[r.at+1 : end-1]
	if escaped {
		name = strictjson.Unquote(name)
	}
	if r.at, r.err = strictjson.Colon(r.text, end); r.err != nil {
		return nil, false, false
	}
	return name, !seen.Add(name), true
}

// value returns the JSON text of the value at the reader's position and moves
// behind it.
func (r *reader) value() []byte {
	if r.err != nil {
		return nil
	}
	start := r.at
	r.at, r.err = strictjson.Skip(r.text, start, strictjson.MaxDepth)
	if r.err != nil {
		return nil
	}
	return r.text[start:r.at:r.at]
}

// end checks that nothing follows.
func (r *reader) end() error {
	if r.err == nil {
		r.err = strictjson.End(r.text, r.at)
	}
	return r.err
}

// word is a string member of a message.
type word struct {
	text  []byte // decoded
	set   bool   // the member is there
	wrong bool   // and is no string
}

// word reads a string.
func (r *reader) word() word {
	value := r.value()
	if len(value) == 0 || value[0] != '"' {
		return word{set: true, wrong: true}
	}
	return word{text: decoded(value), set: true}
}

// decoded returns the value of a string literal: a part of it where nothing in
// it is escaped.
func decoded(literal []byte) []byte {
	inner := literal[1 : len(literal)-1]
	for _, c := range inner {
		if c == '\\' {
			return strictjson.Unquote(inner)
		}
	}
	return inner
}

// is reports whether the word is there and has a value.
func (w word) is(value string) bool { return w.set && !w.wrong && string(w.text) == value }

// valid reports whether the word is there and is a string.
func (w word) valid() bool { return w.set && !w.wrong }
