package schema

import (
	"bytes"
	"reflect"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// object reads an object.
func (s *scanner) object(n *node, at *path, dst reflect.Value) bool {
	if n.types&typeObject == 0 {
		return s.mistyped(n, at)
	}
	if s.depth == 0 {
		return s.tooDeep(at)
	}
	if n.union != nil {
		return s.variant(n.union, at, dst)
	}
	if n.bind == bindMap && dst.IsValid() {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	if n.obj == nil {
		start := s.pos
		return s.free(at, false) && s.enumerated(n, at, start)
	}
	s.depth--
	start := s.pos
	if !s.members(n.obj, at, dst) {
		return false
	}
	s.depth++
	return s.enumerated(n, at, start)
}

// members reads the members of an object, which begins at the current position.
func (s *scanner) members(o *object, at *path, dst reflect.Value) bool {
	var seen fieldSet
	count := 0
	s.pos = strictjson.Space(s.data, s.pos+1)
	last := s.pos // behind the last member
	if s.pos < len(s.data) && s.data[s.pos] == '}' {
		s.pos++
	} else {
		var others *strictjson.Keys
		if !o.closed {
			others = new(strictjson.Keys)
		}
		m := memberWalk{object: o}
		for more := true; more; {
			if !s.member(&m, &seen, others, at, dst) {
				return false
			}
			count++
			last = s.pos
			if s.comma() {
				continue
			}
			var err error
			if s.pos, more, err = strictjson.Next(s.data, s.pos, '}'); err != nil {
				return s.fail(at, err)
			}
		}
	}
	if o.required.without(&seen) {
		s.missing(o, &seen, at)
	}
	if o.defaults.without(&seen) {
		count = s.fillIn(o, &seen, dst, last, count)
	}
	if count < o.min || o.max >= 0 && count > o.max {
		s.checkLength(at, count, o.min, o.max, "minProperties", "maxProperties", "member")
	}
	return !s.full()
}

// memberWalk is the state of reading one object. What leads to the path is kept apart from it,
// because all that one struct holds goes to the heap if a part of it does.
type memberWalk struct {
	object *object
	next   int           // the field that is expected next
	slot   reflect.Value // for one map element
}

// member reads one member. seen are the fields that were read, others the keys that are none,
// nil where there may not be any.
func (s *scanner) member(m *memberWalk, seen *fieldSet, others *strictjson.Keys, at *path, dst reflect.Value) bool {
	i := m.next
	if !s.expected(m.object, i) {
		start := s.pos
		end, escaped, err := strictjson.String(s.data, start)
		if err != nil {
			return s.fail(at, err)
		}
		key := s.data[start+1 : end-1]
		if escaped {
			key = strictjson.Unquote(key)
		}
		if s.pos, err = strictjson.Colon(s.data, end); err != nil {
			return s.fail(at, err)
		}
		if i = m.object.find(key); i < 0 {
			return s.otherMember(m, others, &path{up: at, step: stepText, index: start, secret: at.secret}, dst, key)
		}
	}
	m.next = i + 1
	f := &m.object.fields[i]
	here := path{up: at, step: stepField, field: f, secret: at.secret || f.secret}
	if seen.has(i) {
		s.duplicate(&here)
		return !s.full() && s.skip(&here)
	}
	seen.set(i)
	if dst.IsValid() {
		dst = f.in(dst)
	}
	return s.value(f.node, &here, dst)
}

// expected passes over the name of field i and its colon, if they come next as they are usually
// written. In input that keeps the published order no other look-up is needed.
func (s *scanner) expected(o *object, i int) bool {
	if i >= len(o.fields) {
		return false
	}
	name := o.fields[i].quoted
	if end := s.pos + len(name); end < len(s.data) && string(s.data[s.pos:end]) == name {
		s.pos = strictjson.Space(s.data, end)
		return true
	}
	return false
}

// in returns the Go field, or an invalid value if none stands for f.
func (f *field) in(v reflect.Value) reflect.Value {
	if f.place >= 0 {
		return v.Field(int(f.place))
	}
	return f.deepIn(v)
}

// deepIn is in for fields of embedded structs, and for none.
func (f *field) deepIn(v reflect.Value) reflect.Value {
	if f.place == nowhere {
		return reflect.Value{}
	}
	return v.FieldByIndex(f.path)
}

func (s *scanner) duplicate(at *path) {
	s.add(at, "duplicate", "the key occurs more than once; send it once", nil)
}

// otherMember reads a member that no field is named for.
func (s *scanner) otherMember(m *memberWalk, others *strictjson.Keys, here *path, dst reflect.Value, key []byte) bool {
	o := m.object
	if others == nil {
		s.unknown(o, here, key)
		return !s.full() && s.skip(here)
	}
	if !others.Add(key) {
		s.duplicate(here)
		return !s.full() && s.skip(here)
	}
	if o.extra == nil {
		return s.free(here, false)
	}
	if !dst.IsValid() {
		return s.value(o.extra, here, dst)
	}
	if !m.slot.IsValid() {
		m.slot = reflect.New(dst.Type().Elem()).Elem()
	}
	m.slot.SetZero()
	if !s.value(o.extra, here, m.slot) {
		return false
	}
	dst.SetMapIndex(reflect.ValueOf(string(key)).Convert(dst.Type().Key()), m.slot)
	return true
}

// unknown reports a key that is not accepted, with the one that was probably meant.
func (s *scanner) unknown(o *object, at *path, key []byte) {
	if name, ok := o.foldedName(key); ok {
		s.add(at, "case", "the key is spelled "+quoted(name), nil)
		return
	}
	message := "the key is not known here; leave it out"
	if len(o.fields) == 0 {
		message = "no keys are accepted here; leave it out"
	} else if len(key) < keyLimit && s.hints < maxHints {
		if name := o.nearest(key); name != "" {
			s.hints++
			message = "the key is not known here; did you mean " + quoted(name) + "?"
		}
	}
	s.add(at, "unknown", message, nil)
}

// missing reports the required members that were not seen.
func (s *scanner) missing(o *object, seen *fieldSet, at *path) {
	for i := range o.fields {
		f := &o.fields[i]
		if f.required && !seen.has(i) {
			s.add(&path{up: at, step: stepField, field: f}, "required", missingMessage, f.node.allowedValues())
		}
	}
}

const missingMessage = "is required; add it"

// allowedValues returns what a missing value may be, where that is a short list.
func (n *node) allowedValues() []any {
	if n.enum == nil {
		return nil
	}
	return n.enum.allowed
}

// fillIn sets the fields that were not seen and have a default, and returns how many members
// there are then. last is the place behind the last member in the text.
func (s *scanner) fillIn(o *object, seen *fieldSet, dst reflect.Value, last, count int) int {
	for i := range o.fields {
		f := &o.fields[i]
		if f.fallback == nil || seen.has(i) {
			continue
		}
		if dst.IsValid() {
			f.fallback.set(f.node, f.in(dst))
		}
		if s.fill {
			var text []byte
			if count > 0 {
				text = append(text, ',')
			}
			text = append(append(text, f.quoted...), f.fallback.json...)
			s.edits = append(s.edits, edit{at: last, text: text})
		}
		count++
	}
	return count
}

// set gives dst, which is of the field's type, the default.
func (b *fallback) set(n *node, dst reflect.Value) {
	if b.plain {
		dst.Set(b.value)
		return
	}
	// What holds references is read anew, so that no two values share them. The text was
	// checked when the schema was compiled.
	sc := newScanner(b.json, 0)
	dst.SetZero()
	sc.run(n, dst)
}

// variant reads an object of a union. The member that tells which variant it is usually comes
// first; where it does not, the object is searched for it before it is read.
func (s *scanner) variant(u *unionRules, at *path, dst reflect.Value) bool {
	name, found, ok := s.discriminator(u, at)
	if !ok {
		return false
	}
	here := path{up: at, step: stepName, name: u.discriminator, secret: at.secret}
	i := u.variant(name)
	if i < 0 {
		switch {
		case !found:
			s.add(&here, "required", "is required and tells which variant this is; add it", u.allowed)
		default:
			s.add(&here, "enum", "must name one of the variants", u.allowed)
		}
		return !s.full() && s.skip(at)
	}
	if !dst.IsValid() {
		return s.value(u.variants[i], at, dst)
	}
	value := reflect.New(u.variants[i].goType)
	if !s.value(u.variants[i], at, value.Elem()) {
		return false
	}
	if u.goTypes[i].Kind() != reflect.Pointer {
		value = value.Elem()
	}
	dst.Set(value)
	return true
}

// discriminator looks for the member that names the variant, without moving on.
func (s *scanner) discriminator(u *unionRules, at *path) (name []byte, found, ok bool) {
	i := strictjson.Space(s.data, s.pos+1)
	if i < len(s.data) && s.data[i] == '}' {
		return nil, false, true
	}
	for {
		end, escaped, err := strictjson.String(s.data, i)
		if err != nil {
			return nil, false, s.fail(at, err)
		}
		key := s.data[i+1 : end-1]
		if escaped {
			key = strictjson.Unquote(key)
		}
		if i, err = strictjson.Colon(s.data, end); err != nil {
			return nil, false, s.fail(at, err)
		}
		end, err = strictjson.Skip(s.data, i, s.depth-1)
		if err != nil {
			return nil, false, s.fail(at, err)
		}
		if string(key) == u.discriminator {
			if s.data[i] != '"' {
				return nil, true, true
			}
			if raw := s.data[i+1 : end-1]; bytes.IndexByte(raw, '\\') < 0 {
				return raw, true, true
			}
			return strictjson.Unquote(s.data[i+1 : end-1]), true, true
		}
		var more bool
		if i, more, err = strictjson.Next(s.data, end, '}'); err != nil || !more {
			if err != nil {
				return nil, false, s.fail(at, err)
			}
			return nil, false, true
		}
	}
}
