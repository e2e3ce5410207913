package schema

import (
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// publish appends the JSON Schema of a compiled Go type to dst.
func publish(dst []byte, root *node) []byte {
	p := publisher{buf: dst}
	p.findRecursion(root, nil)
	p.baptize()
	p.buf = append(p.buf, '{')
	p.content(root) // in full, even if it contains itself
	p.buf = append(p.buf, '}')
	if len(p.recursive) > 0 {
		p.definitions()
	}
	return p.buf
}

// publisher writes one schema.
type publisher struct {
	buf       []byte
	seen      []*node
	recursive []*node // the types that contain themselves, in the order they are met
	names     map[*node]string
}

// findRecursion walks the tree and collects the types that it meets within themselves.
func (p *publisher) findRecursion(n *node, within []*node) {
	if d := n.named; d != nil {
		for _, outer := range within {
			if outer == d {
				if !slices.Contains(p.recursive, d) {
					p.recursive = append(p.recursive, d)
				}
				return
			}
		}
		if slices.Contains(p.seen, d) {
			return
		}
		p.seen = append(p.seen, d)
		within = append(within, d)
	}
	n.children(func(child *node) { p.findRecursion(child, within) })
}

// baptize gives the recursive types names that differ.
func (p *publisher) baptize() {
	if len(p.recursive) == 0 {
		return
	}
	p.names = make(map[*node]string, len(p.recursive))
	taken := map[string]bool{}
	for _, d := range p.recursive {
		base := typeName(d.goType)
		name := base
		for i := 2; taken[name]; i++ {
			name = base + strconv.Itoa(i)
		}
		taken[name] = true
		p.names[d] = name
	}
}

// definitions adds the recursive types to the object that was just written.
func (p *publisher) definitions() {
	p.buf = append(p.buf[:len(p.buf)-1], `,"$defs":{`...)
	for i, d := range p.recursive {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.key(p.names[d])
		p.buf = append(p.buf, '{')
		p.content(d)
		p.buf = append(p.buf, '}')
	}
	p.buf = append(p.buf, "}}"...)
}

// key begins a member.
func (p *publisher) key(name string) {
	if last := p.buf[len(p.buf)-1]; last != '{' && last != ',' {
		p.buf = append(p.buf, ',')
	}
	p.buf = append(strictjson.AppendString(p.buf, name), ':')
}

func (p *publisher) string(name, value string) {
	p.key(name)
	p.buf = strictjson.AppendString(p.buf, value)
}

func (p *publisher) raw(name string, value []byte) {
	p.key(name)
	p.buf = append(p.buf, value...)
}

// count writes a limit unless it is unset.
func (p *publisher) count(name string, n, unset int) {
	if n != unset {
		p.key(name)
		p.buf = strconv.AppendInt(p.buf, int64(n), 10)
	}
}

// schema writes the schema of a value.
func (p *publisher) schema(n *node) { p.field(&field{node: n, remarks: &noRemarks}) }

// field writes the schema of a value with what its field adds.
func (p *publisher) field(f *field) {
	p.buf = append(p.buf, '{')
	n, note := f.node, f.note.words()
	if note.title != "" {
		p.string("title", note.title)
	}
	if note.doc != "" {
		p.string("description", note.doc)
	}
	if n.nullable {
		p.key("anyOf")
		p.buf = append(p.buf, "[{"...)
		p.reference(n)
		p.buf = append(p.buf, `},{"type":"null"}]`...)
	} else {
		p.reference(n)
	}
	if f.fallback != nil {
		p.raw("default", f.fallback.json)
	}
	if note.example != nil {
		p.key("examples")
		p.buf = append(append(append(p.buf, '['), note.example...), ']')
	}
	if f.secret {
		p.raw("writeOnly", []byte("true"))
	}
	p.buf = append(p.buf, '}')
}

// reference writes the rules of n, or where they stand if its type contains itself.
func (p *publisher) reference(n *node) {
	if name, ok := p.names[n.named]; ok && n.named != nil {
		p.string("$ref", "#/$defs/"+name)
		return
	}
	p.content(n)
}

// content writes the rules of n.
func (p *publisher) content(n *node) {
	if n.text != nil {
		if inner := n.text[1 : len(n.text)-1]; len(inner) > 0 && n.text[0] == '{' {
			p.separate()
			p.buf = append(p.buf, inner...)
		}
		return
	}
	if n.types != typeAny {
		p.string("type", n.types.name())
	}
	if n.enum != nil {
		p.enum(n.enum)
	}
	if n.str != nil {
		p.strings(n.str)
	}
	if n.num != nil {
		for _, rule := range n.num.limits() {
			if l := *rule.to; l != nil {
				p.raw(rule.name, l.text)
			}
		}
	}
	switch n.bind {
	case bindTime:
		p.string("format", "date-time")
	case bindDuration:
		p.string("pattern", durationPattern)
	case bindBytes:
		p.string("contentEncoding", "base64")
	}
	if n.arr != nil {
		p.array(n.arr)
	}
	if n.obj != nil {
		p.object(n.obj)
	}
	if n.union != nil {
		p.union(n.union)
	}
}

// separate puts a comma where one is due.
func (p *publisher) separate() {
	if last := p.buf[len(p.buf)-1]; last != '{' {
		p.buf = append(p.buf, ',')
	}
}

// name returns the one type that published schemas of Go types have.
func (t types) name() string {
	for _, known := range typeNames {
		if t&known.bit != 0 {
			return known.name
		}
	}
	return ""
}

func (p *publisher) enum(e *enumRules) {
	if e.single {
		p.raw("const", e.text[1:len(e.text)-1])
		return
	}
	p.raw("enum", e.text)
}

func (p *publisher) strings(r *stringRules) {
	p.count("minLength", r.min, 0)
	p.count("maxLength", r.max, -1)
	if r.pattern != nil {
		p.string("pattern", r.pattern.String())
	}
	if r.format != formatNone {
		p.string("format", formats[r.format].name)
	}
}

func (p *publisher) array(r *arrayRules) {
	p.key("items")
	p.schema(r.items)
	p.count("minItems", r.min, 0)
	p.count("maxItems", r.max, -1)
	if r.unique {
		p.raw("uniqueItems", []byte("true"))
	}
}

func (p *publisher) object(o *object) {
	if o.closed {
		p.key("properties")
		p.buf = append(p.buf, '{')
		for i := range o.fields {
			f := &o.fields[i]
			p.key(f.name())
			p.field(f)
		}
		p.buf = append(p.buf, '}')
		p.required(o)
		p.raw("additionalProperties", []byte("false"))
		return
	}
	p.key("additionalProperties")
	p.schema(o.extra)
}

func (p *publisher) required(o *object) {
	first := true
	for i := range o.fields {
		f := &o.fields[i]
		if !f.required {
			continue
		}
		if first {
			p.key("required")
			p.buf = append(p.buf, '[')
		} else {
			p.buf = append(p.buf, ',')
		}
		first = false
		p.buf = strictjson.AppendString(p.buf, f.name())
	}
	if !first {
		p.buf = append(p.buf, ']')
	}
}

func (p *publisher) union(u *unionRules) {
	p.key("anyOf")
	p.buf = append(p.buf, '[')
	for i, v := range u.variants {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.schema(v)
	}
	p.buf = append(p.buf, ']')
}
