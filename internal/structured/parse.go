package structured

import (
	"errors"
	"fmt"
)

// Limits bound the work that a field may ask for. What goes beyond is an error.
type Limits struct {
	Bytes   int // of all lines together
	Members int // of a dictionary
	Items   int // in all lists of a field
	Params  int // of all that a field holds
}

// reader is a place in a line.
type reader struct {
	text   string
	at     int
	limits Limits // what is left
}

var (
	errTwice = errors.New("a member or a parameter comes twice")
	errParts = errors.New("has too many parts")
	errEnd   = errors.New("ends too early, or a string does not end in its line")
	errComma = errors.New("has no member after a comma")
)

// ParseDictionary reads the lines of a dictionary field (RFC 9651, section 3.2).
// No lines, and a single one that is empty, are a dictionary without members.
func ParseDictionary(lines []string, limits Limits) (Dictionary, error) {
	if err := tooLong(lines, limits); err != nil {
		return nil, err
	}
	r := reader{limits: limits}
	var d Dictionary
	for i, line := range lines {
		r.text, r.at = line, 0
		r.spaces()
		if r.end() && len(lines) == 1 {
			break
		}
		if i > 0 {
			r.blanks()
		}
		var err error
		if d, err = r.members(d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// ParseItem reads a field that is one item (RFC 9651, section 3.3).
func ParseItem(lines []string, limits Limits) (Item, error) {
	if len(lines) != 1 {
		return Item{}, errors.New("is not in one line")
	}
	if err := tooLong(lines, limits); err != nil {
		return Item{}, err
	}
	r := reader{text: lines[0], limits: limits}
	r.spaces()
	item, err := r.item()
	if err != nil {
		return Item{}, err
	}
	if r.spaces(); !r.end() {
		return Item{}, r.unexpected()
	}
	return item, nil
}

func tooLong(lines []string, limits Limits) error {
	size := 0
	for _, line := range lines {
		size += len(line) + len(", ")
	}
	if size > limits.Bytes {
		return fmt.Errorf("has more than %d bytes", limits.Bytes)
	}
	return nil
}

// members reads the members of a line.
func (r *reader) members(d Dictionary) (Dictionary, error) {
	for {
		member, err := r.member()
		switch {
		case err != nil:
			return nil, err
		case d.Get(member.Name) != nil:
			return nil, errTwice
		case len(d) == r.limits.Members:
			return nil, errParts
		}
		d = append(d, member)
		if r.blanks(); r.end() {
			return d, nil
		}
		if r.text[r.at] != ',' {
			return nil, r.unexpected()
		}
		r.at++
		if r.blanks(); r.end() {
			return nil, errComma
		}
	}
}

func (r *reader) member() (m Member, err error) {
	if m.Name, err = r.key(); err != nil {
		return m, err
	}
	switch {
	case !r.next('='):
		m.Value = True()
		m.Params, err = r.params()
	case r.next('('):
		m.Value.Kind = InnerList
		if m.Items, err = r.list(); err == nil {
			m.Params, err = r.params()
		}
	default:
		m.Item, err = r.item()
	}
	return m, err
}

// list reads an inner list (RFC 9651, section 3.1.1) behind its parenthesis.
func (r *reader) list() ([]Item, error) {
	var items []Item
	for {
		spaced := r.spaces()
		switch {
		case r.next(')'):
			return items, nil
		case r.end():
			return nil, errEnd
		case len(items) > 0 && !spaced:
			return nil, r.unexpected()
		case r.limits.Items == 0:
			return nil, errParts
		}
		r.limits.Items--
		item, err := r.item()
		if err != nil {
			return nil, err
		}
		if items == nil {
			items = make([]Item, 0, 8)
		}
		items = append(items, item)
	}
}

func (r *reader) item() (item Item, err error) {
	if item.Value, err = r.value(); err == nil {
		item.Params, err = r.params()
	}
	return item, err
}

// params reads parameters (RFC 9651, section 3.1.2).
func (r *reader) params() (Params, error) {
	var params Params
	for r.next(';') {
		r.spaces()
		name, err := r.key()
		if err != nil {
			return nil, err
		}
		value := True()
		if r.next('=') {
			if value, err = r.value(); err != nil {
				return nil, err
			}
		}
		if _, twice := params.Get(name); twice {
			return nil, errTwice
		}
		if r.limits.Params == 0 {
			return nil, errParts
		}
		r.limits.Params--
		params = append(params, Param{name, value})
	}
	return params, nil
}

// key reads the name of a member or of a parameter.
func (r *reader) key() (string, error) {
	start := r.at
	for r.at < len(r.text) && keyByte(r.text[r.at], r.at == start) {
		r.at++
	}
	if r.at == start {
		return "", r.unexpected()
	}
	return r.text[start:r.at], nil
}

func keyByte(c byte, first bool) bool {
	return 'a' <= c && c <= 'z' || c == '*' || !first && ('0' <= c && c <= '9' || c == '_' || c == '-' || c == '.')
}

func (r *reader) end() bool { return r.at == len(r.text) }

// next goes over a byte if it is the next one.
func (r *reader) next(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// spaces goes over spaces, and reports whether there are any.
func (r *reader) spaces() bool {
	start := r.at
	for r.next(' ') {
	}
	return r.at > start
}

// blanks goes over spaces and tabs, as they may stand around a comma.
func (r *reader) blanks() {
	for r.next(' ') || r.next('\t') {
	}
}

func (r *reader) unexpected() error {
	if r.end() {
		return errEnd
	}
	return fmt.Errorf("has something unexpected at byte %d of a line", r.at)
}
