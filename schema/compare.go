package schema

import "fmt"

// Direction says on which side of a capability a schema stands.
type Direction int

const (
	// Input is what callers send.
	Input Direction = iota
	// Output is what callers receive.
	Output
)

// Effect says what a change does to the values that can pass.
type Effect int

const (
	// Neutral changes words, and no value's fate.
	Neutral Effect = iota
	// Narrows keeps something from passing that could pass before.
	Narrows
	// Widens lets something pass that could not before. What can't be put in order, such as a
	// pattern that became another, counts as widening.
	Widens
)

// String returns the effect in lower case.
func (e Effect) String() string {
	switch e {
	case Neutral:
		return "neutral"
	case Narrows:
		return "narrows"
	case Widens:
		return "widens"
	}
	return fmt.Sprintf("Effect(%d)", int(e))
}

// A Change is one difference between two schemas.
type Change struct {
	// Pointer is the JSON Pointer of the place in the newer schema, or in the older for what
	// was removed. What a recursive reference leads to is shown where it was first met.
	Pointer string
	// Rule is the keyword that differs; "schema" stands for several that were compared as one.
	Rule string
	// Message says what changed, for a reviewer.
	Message string
	// Effect says what it does.
	Effect Effect
}

// Compare lists what changed from older to newer, in document order; nil means that nothing
// did. An edit that exchanges something shows as two changes, one that widens and one that
// narrows.
//
// The direction matters where the words of a schema say more than the set of its values: a
// property added to an open object limits an input and discloses more in an output, and another
// default changes what an input means.
func Compare(older, newer *Schema, d Direction) []Change {
	c := comparison{direction: d, seen: map[[2]*node]bool{}}
	c.nodes("", older.root, newer.root)
	c.remainder(older.root, newer.root)
	return c.changes
}

// comparison walks two trees together.
type comparison struct {
	direction Direction
	changes   []Change
	seen      map[[2]*node]bool
}

func (c *comparison) add(pointer, rule string, effect Effect, format string, args ...any) {
	c.changes = append(c.changes, Change{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...), Effect: effect})
}

// nodes compares two schemas.
func (c *comparison) nodes(pointer string, older, newer *node) {
	c.text(pointer, "title", older.tree().note.words().title, newer.tree().note.words().title)
	c.text(pointer, "description", older.tree().note.words().doc, newer.tree().note.words().doc)
	c.rules(pointer, older, newer)
}

// rules compares what two schemas demand.
func (c *comparison) rules(pointer string, older, newer *node) {
	older, newer = older.tree(), newer.tree()
	if older == newer || c.seen[[2]*node{older, newer}] {
		return
	}
	c.seen[[2]*node{older, newer}] = true
	before, after := older.accepted(), newer.accepted()
	if added := after.minus(before); added != 0 {
		c.add(pointer, "type", Widens, "accepts %s now", added.phrase())
	}
	if removed := before.minus(after); removed != 0 {
		c.add(pointer, "type", Narrows, "no longer accepts %s", removed.phrase())
	}
	for _, t := range []types{typeString, typeNumber | typeInteger, typeArray, typeObject, typeBoolean, typeNull} {
		if before&t == 0 || after&t == 0 {
			continue
		}
		o, n := older.forType(t), newer.forType(t)
		if o == n || (o != older || n != newer) && c.seen[[2]*node{o, n}] {
			continue
		}
		c.enums(pointer, t, o, n)
		switch t {
		case typeString:
			c.strings(pointer, o, n)
		case typeNumber | typeInteger:
			c.numbers(pointer, o, n)
		case typeArray:
			c.arrays(pointer, o, n)
		case typeObject:
			c.objects(pointer, o, n)
		}
	}
}

// tree returns the node whose rules are compared.
func (n *node) tree() *node {
	for n.described != nil {
		n = n.described
	}
	return n
}

// accepted returns the types that n accepts, null included.
func (n *node) accepted() types {
	t := n.types
	if n.nullable {
		t |= typeNull
	}
	return t
}

// minus returns the types of t that are not in other. Whether numbers may have fractions is
// compared with the other rules for numbers.
func (t types) minus(other types) types {
	rest := t &^ other
	if t&other&typeInteger != 0 {
		rest &^= typeNumber
	}
	return rest
}

// forType returns the node that has the rules for values of a type.
func (n *node) forType(t types) *node {
	if b := n.branchFor(t); b != nil {
		return b.tree().forType(t)
	}
	return n
}

// text compares words for readers.
func (c *comparison) text(pointer, rule, older, newer string) {
	switch {
	case older == newer:
	case older == "":
		c.add(pointer, rule, Neutral, "was added")
	case newer == "":
		c.add(pointer, rule, Neutral, "was removed")
	default:
		c.add(pointer, rule, Neutral, "was reworded")
	}
}

// enums compares the accepted values of one type.
func (c *comparison) enums(pointer string, t types, older, newer *node) {
	switch o, n := older.enum, newer.enum; {
	case o == nil && n == nil:
	case o == nil:
		c.add(pointer, n.rule(), Narrows, "only listed values are accepted now")
	case n == nil:
		c.add(pointer, o.rule(), Widens, "values that are not listed are accepted now")
	default:
		for _, value := range n.of(t) {
			if !o.has(value) {
				c.add(pointer, n.rule(), Widens, "accepts %s now", cut(value, echoLimit))
			}
		}
		for _, value := range o.of(t) {
			if !n.has(value) {
				c.add(pointer, o.rule(), Narrows, "no longer accepts %s", cut(value, echoLimit))
			}
		}
	}
}

// of returns the values of one type.
func (e *enumRules) of(t types) [][]byte {
	var list [][]byte
	for _, value := range e.values() {
		if typeOfByte(value[0])&t != 0 {
			list = append(list, value)
		}
	}
	return list
}
