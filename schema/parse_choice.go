package schema

import (
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// choice compiles anyOf and oneOf where one look at a value tells which branch it belongs to:
// by its JSON type, or by the constant of a member that every branch requires. Then at most
// that branch can accept it, which makes the two keywords the same, and the faults are those of
// the branch that was meant. Other choices are left to the complete validator.
func (p *parser) choice(n *node, list keywords, pointer string) error {
	var chosen *keyword
	alone := true
	for i := range list {
		switch k := &list[i]; {
		case (k.name == "anyOf" || k.name == "oneOf") && chosen == nil:
			chosen = k
		case k.name == "type" || annotation(k.name):
		default:
			alone = false
		}
	}
	if chosen == nil {
		return nil
	}
	branches, err := p.branches(*chosen, pointer)
	if err != nil {
		return err
	}
	switch {
	case alone && n.types&typeObject != 0 && n.discriminate(branches):
		n.types = typeObject
	case alone && disjoint(branches):
		n.choose(branches)
	default:
		p.complete = true
	}
	return nil
}

// branches returns the nodes of the alternatives.
func (p *parser) branches(k keyword, pointer string) ([]*node, error) {
	var list []*node
	for elements := strictjson.Elements(k.value, parseDepth); elements.Next(); {
		b, err := p.schema(elements.Value(), child(pointer, k.name, strconv.Itoa(len(list))))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// disjoint reports whether no two branches accept values of one type.
func disjoint(list []*node) bool {
	var all types
	for _, b := range list {
		if b.types&all != 0 {
			return false
		}
		all |= b.types
	}
	return true
}

// choose makes n the choice of branches by type.
func (n *node) choose(list []*node) {
	var all types
	for _, b := range list {
		if t := b.types & n.types; t != 0 {
			n.rare().branches = append(n.branches, branch{types: t, node: b})
			all |= t
		}
	}
	n.types = all
	if n.branches == nil {
		n.types = 0
	}
}

// discriminate makes n the choice of branches by a member, if there is one for it.
func (n *node) discriminate(list []*node) bool {
	if list[0].obj == nil {
		return false
	}
	for _, f := range list[0].obj.fields {
		u := unionRules{discriminator: f.name()}
		if !slices.ContainsFunc(list, func(b *node) bool { return !u.add(b) }) {
			n.rare().union = &u
			return true
		}
	}
	return false
}

// add makes b a variant, if it requires the discriminator to be one of some strings that no
// other variant takes.
func (u *unionRules) add(b *node) bool {
	if b.types != typeObject || b.obj == nil {
		return false
	}
	i := b.obj.find([]byte(u.discriminator))
	if i < 0 {
		return false
	}
	f := &b.obj.fields[i]
	e := f.node.enum
	if !f.required || e == nil || len(e.keys) > 0 || f.node.types&typeString == 0 {
		return false
	}
	for _, name := range e.strings {
		if slices.Contains(u.names, name) {
			return false
		}
		u.names = append(u.names, name)
		u.variants = append(u.variants, b)
		u.allowed = append(u.allowed, name)
	}
	return true
}
