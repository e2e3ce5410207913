package schema

import (
	"slices"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// object compiles the keywords for objects, which depend on one another.
func (p *parser) object(n *node, list keywords, pointer string) error {
	o := &object{max: -1}
	used := false
	for _, k := range list {
		switch k.name {
		case "properties", "required", "additionalProperties", "minProperties", "maxProperties":
			used = true
		}
	}
	if !used {
		return nil
	}
	others, err := p.otherMembers(o, list, pointer)
	if err != nil {
		return err
	}
	if value := list.get("properties"); value != nil {
		for members := strictjson.Members(value, parseDepth); members.Next(); {
			if err := p.property(o, string(members.Key()), members.Value(), pointer); err != nil {
				return err
			}
		}
	}
	if value := list.get("required"); value != nil {
		names, err := parseNames(value, pointer, "required")
		if err != nil {
			return err
		}
		for _, name := range names {
			o.require(name, others)
		}
	}
	for _, k := range list {
		switch k.name {
		case "minProperties":
			o.min = countValue(k.value)
		case "maxProperties":
			o.max = countValue(k.value)
		}
	}
	o.seal()
	n.obj = o
	return nil
}

// countValue reads a count that countKeyword found to be one.
func countValue(value []byte) int {
	n := newNode(0)
	_ = countKeyword(n, keyword{"minItems", value}, "")
	return n.arr.min
}

// otherMembers compiles the rule for members that are no properties and returns their node.
func (p *parser) otherMembers(o *object, list keywords, pointer string) (*node, error) {
	anything := newNode(typeAny)
	value := list.get("additionalProperties")
	if value == nil || list.get("patternProperties") != nil {
		return anything, nil // patterns decide which members are additional
	}
	n, err := p.schema(value, child(pointer, "additionalProperties"))
	if err != nil {
		return nil, err
	}
	switch string(value) {
	case "false":
		o.closed = true
	case "true":
	default:
		o.extra = n
	}
	return n, nil
}

// property adds a field.
func (p *parser) property(o *object, name string, raw []byte, pointer string) error {
	at := child(pointer, "properties", name)
	n, err := p.schema(raw, at)
	if err != nil {
		return err
	}
	f := newField(name, n)
	f.secret = n.secret
	i := len(o.fields)
	if raw[0] == '{' {
		list, err := p.read(raw, at)
		if err != nil {
			return err
		}
		f.secret = f.secret || string(list.get("writeOnly")) == "true"
		for _, name := range []string{"default", "examples"} {
			if f.secret && list.get(name) != nil {
				return mistake(at, name, "a secret has none; remove it or writeOnly")
			}
		}
		if value := list.get("default"); value != nil {
			p.pending = append(p.pending, func() { o.fillDefault(i, value) })
		}
	}
	o.fields = append(o.fields, f)
	return nil
}

// fillDefault keeps a default that its own schema accepts.
func (o *object) fillDefault(i int, value []byte) {
	f := &o.fields[i]
	if f.required {
		return
	}
	if filled, faults := filledValue(f.node, value); faults == nil {
		f.remark().fallback = &fallback{json: filled}
		o.defaults.set(i)
	}
}

// require marks a member as required. One that is no property becomes a field for the rule
// that holds for others.
func (o *object) require(name string, others *node) {
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name() == name })
	if i < 0 {
		i = len(o.fields)
		o.fields = append(o.fields, newField(name, others))
	}
	o.fields[i].required = true
}
