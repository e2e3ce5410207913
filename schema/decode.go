package schema

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// Decode reads data, which must be one JSON value, strictly, fills in defaults, checks it, and
// sets dst. It returns nil on success and otherwise what is wrong, in document order and at
// most [MaxFaults] entries; dst is unspecified then.
//
// For a schema of a Go type, dst must be addressable and of that type; whatever it held is
// overwritten. For a parsed schema dst must be an addressable json.RawMessage or []byte; it
// receives its own copy of the value with the defaults filled in. No part of data is kept.
//
// At most depth arrays and objects may enclose one another; depth <= 0 means [DefaultDepth].
func (s *Schema) Decode(data []byte, dst reflect.Value, depth int) []Fault {
	sc := newScanner(data, depth)
	if s.goType == nil {
		sc.fill = true
		faults := sc.run(s.root, reflect.Value{})
		if faults == nil {
			dst.SetBytes(sc.filled())
		}
		return faults
	}
	dst.SetZero()
	return sc.run(s.root, dst)
}

// Check gives the verdict of [Schema.Decode] and sets nothing. On success it allocates nothing,
// unless the schema asks for unique items or needs the complete validator.
func (s *Schema) Check(data []byte, depth int) []Fault {
	sc := newScanner(data, depth)
	return sc.run(s.root, reflect.Value{})
}

// scanner walks bytes and the tree together.
type scanner struct {
	report
	pos     int
	depth   int // arrays and objects that may still be opened
	scratch []byte
	fill    bool // note the defaults that are missing from the text
	edits   []edit
}

// edit is text that belongs at a place of the input.
type edit struct {
	at   int
	text []byte
}

func newScanner(data []byte, depth int) scanner {
	if depth <= 0 {
		depth = DefaultDepth
	}
	return scanner{report: report{data: data}, depth: min(depth, strictjson.MaxDepth)}
}

// run reads the whole text.
func (s *scanner) run(root *node, dst reflect.Value) []Fault {
	s.pos = strictjson.Space(s.data, 0)
	at := path{}
	if !s.value(root, &at, dst) {
		return s.faults
	}
	if err := strictjson.End(s.data, s.pos); err != nil {
		s.fail(&at, err)
	}
	return s.faults
}

// filled returns a copy of the value with the missing defaults in it.
func (s *scanner) filled() []byte {
	start := strictjson.Space(s.data, 0)
	size := s.pos - start
	for _, e := range s.edits {
		size += len(e.text)
	}
	out := make([]byte, 0, size)
	for _, e := range s.edits {
		out = append(append(out, s.data[start:e.at]...), e.text...)
		start = e.at
	}
	return append(out, s.data[start:s.pos]...)
}

// fail records that the text can't be read. It is the only fault then: what was found before
// it may be a consequence.
func (s *scanner) fail(at *path, err error) bool {
	s.faults = nil
	var problem *strictjson.Error
	if !errors.As(err, &problem) {
		s.add(at, "syntax", "the text is not JSON", nil)
		return false
	}
	message := problem.Problem + ", at byte " + strconv.Itoa(problem.Offset)
	switch problem.Kind {
	case strictjson.UTF8:
		s.add(&path{}, "utf8", message, nil)
	case strictjson.Depth:
		s.add(at, "depth", message, nil)
	default:
		s.add(&path{}, "syntax", message, nil)
	}
	return false
}

// value reads the value at the current position, checks it by n and, if dst is valid, sets it.
// It returns false when the walk must end: the text is broken or no more faults are wanted.
func (s *scanner) value(n *node, at *path, dst reflect.Value) bool {
	if n.special {
		return s.special(n, at, dst)
	}
	return s.plain(n, at, dst)
}

// plain reads a value by its JSON type.
func (s *scanner) plain(n *node, at *path, dst reflect.Value) bool {
	if s.pos >= len(s.data) {
		_, err := strictjson.Skip(s.data, s.pos, s.depth)
		return s.fail(at, err)
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		return s.string(n, at, dst)
	case c == '{':
		return s.object(n, at, dst)
	case c == '[':
		return s.array(n, at, dst)
	case c == '-' || c-'0' <= 9:
		return s.number(n, at, dst)
	case c == 't' || c == 'f':
		return s.boolean(n, at, dst)
	}
	return s.null(n, at)
}

// special reads a value of a node that is more than rules for JSON types.
func (s *scanner) special(n *node, at *path, dst reflect.Value) bool {
	var c byte
	if s.pos < len(s.data) {
		c = s.data[s.pos]
	}
	if n.secret {
		at.secret = true
	}
	if n.nullable && c == 'n' {
		return s.literal(at)
	}
	if n.pointers > 0 && dst.IsValid() && n.types&typeOfByte(c) != 0 {
		for range n.pointers {
			dst.Set(reflect.New(dst.Type().Elem()))
			dst = dst.Elem()
		}
	}
	switch {
	case n.bind == bindRaw, n.bind == bindAny, n.bind == bindMethods:
		return s.foreign(n, at, dst)
	case n.complete != nil:
		return s.completed(n, at)
	case n.branches != nil:
		if b := n.branchFor(typeOfByte(c)); b != nil {
			return s.value(b, at, dst)
		}
		return s.mistyped(n, at)
	}
	return s.plain(n, at, dst)
}

// typeOfByte returns the types that a value beginning with c may have.
func typeOfByte(c byte) types {
	switch {
	case c == '"':
		return typeString
	case c == '{':
		return typeObject
	case c == '[':
		return typeArray
	case c == 't' || c == 'f':
		return typeBoolean
	case c == '-' || c-'0' <= 9:
		return typeInteger | typeNumber
	}
	return typeNull
}

// branchFor returns the branch for a value of type t, or nil.
func (n *node) branchFor(t types) *node {
	for _, b := range n.branches {
		if b.types&t != 0 {
			return b.node
		}
	}
	return nil
}

// mistyped reports a value of the wrong type and skips it.
func (s *scanner) mistyped(n *node, at *path) bool {
	got := typeOfByte(s.data[s.pos])
	end, err := strictjson.Skip(s.data, s.pos, s.depth)
	if err != nil {
		return s.fail(at, err)
	}
	s.pos = end
	s.report.mistyped(n, at, got)
	return !s.full()
}

func (s *scanner) literal(at *path) bool {
	end, err := strictjson.Literal(s.data, s.pos)
	if err != nil {
		return s.fail(at, err)
	}
	s.pos = end
	return true
}

func (s *scanner) null(n *node, at *path) bool {
	if n.types&typeNull == 0 {
		return s.mistyped(n, at)
	}
	return s.literal(at) && s.enumerated(n, at, s.pos-len("null"))
}

func (s *scanner) boolean(n *node, at *path, dst reflect.Value) bool {
	if n.types&typeBoolean == 0 {
		return s.mistyped(n, at)
	}
	start := s.pos
	if !s.literal(at) {
		return false
	}
	if dst.IsValid() {
		dst.SetBool(s.data[start] == 't')
	}
	return s.enumerated(n, at, start)
}

// enumerated checks the value that was read from start on against the accepted values.
func (s *scanner) enumerated(n *node, at *path, start int) bool {
	if n.enum != nil {
		s.checkEnumJSON(n.enum, at, s.data[start:s.pos])
	}
	return !s.full()
}

// filledValue returns the JSON text of one default with the defaults below it filled in.
func filledValue(n *node, text []byte) ([]byte, []Fault) {
	sc := newScanner(text, 0)
	sc.fill = true
	if faults := sc.run(n, reflect.Value{}); faults != nil {
		return nil, faults
	}
	return slices.Clip(sc.filled()), nil
}
