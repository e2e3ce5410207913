package schema

import (
	"slices"
	"strconv"
)

// count compares two lengths; raising is what a greater one does. -1 is no limit.
func (c *comparison) count(pointer, rule string, older, newer int, raising Effect) {
	if older == newer {
		return
	}
	effect := raising
	if newer != -1 && (newer < older || older == -1) {
		effect = Narrows + Widens - raising
	}
	c.add(pointer, rule, effect, "was %s, is %s now", countText(older), countText(newer))
}

func countText(n int) string {
	if n < 0 {
		return "unlimited"
	}
	return strconv.Itoa(n)
}

// form compares two texts that are rules and have no order.
func (c *comparison) form(pointer, rule, older, newer string) {
	switch {
	case older == newer:
	case older == "":
		c.add(pointer, rule, Narrows, "was added: %s", cut(newer, 2*keyLimit))
	case newer == "":
		c.add(pointer, rule, Widens, "was removed: %s", cut(older, 2*keyLimit))
	default:
		c.add(pointer, rule, Widens, "was %s, is %s now", cut(older, 2*keyLimit), cut(newer, 2*keyLimit))
	}
}

func (c *comparison) strings(pointer string, older, newer *node) {
	o, n := older.str, newer.str
	if o == nil {
		o = &stringRules{max: -1}
	}
	if n == nil {
		n = &stringRules{max: -1}
	}
	c.count(pointer, "minLength", o.min, n.min, Narrows)
	c.count(pointer, "maxLength", o.max, n.max, Widens)
	c.form(pointer, "pattern", o.patternText(), n.patternText())
	c.form(pointer, "format", older.textForm(), newer.textForm())
}

func (r *stringRules) patternText() string {
	if r.pattern == nil {
		return ""
	}
	return r.pattern.String()
}

// textForm names the form that a string must have, by its format or by its Go type.
func (n *node) textForm() string {
	switch n.bind {
	case bindTime:
		return formats[formatDateTime].name
	case bindDuration:
		return "duration in Go's form"
	case bindBytes:
		return "base64"
	case bindText:
		return "text of " + n.goType.String()
	}
	if n.str != nil {
		return formats[n.str.format].name
	}
	return ""
}

func (c *comparison) numbers(pointer string, older, newer *node) {
	o, n := older.num, newer.num
	if o == nil {
		o = &numberRules{}
	}
	if n == nil {
		n = &numberRules{}
	}
	switch before, after := older.types&typeNumber, newer.types&typeNumber; {
	case before != 0 && after == 0:
		c.add(pointer, "type", Narrows, "no longer accepts fractions")
	case before == 0 && after != 0:
		c.add(pointer, "type", Widens, "accepts fractions now")
	}
	olderLimits := o.limits()
	for i, rule := range n.limits() {
		c.limit(pointer, rule.name, *olderLimits[i].to, *rule.to)
	}
}

// limit compares two numeric limits of one rule.
func (c *comparison) limit(pointer, rule string, older, newer *limit) {
	switch {
	case older == nil && newer == nil:
	case older == nil:
		c.add(pointer, rule, Narrows, "was added: %s", newer.text)
	case newer == nil:
		c.add(pointer, rule, Widens, "was removed: %s", older.text)
	default:
		order := newer.value().compare(older.value())
		if order == 0 {
			return
		}
		effect := Widens
		switch rule {
		case "minimum", "exclusiveMinimum":
			if order > 0 {
				effect = Narrows
			}
		case "maximum", "exclusiveMaximum":
			if order < 0 {
				effect = Narrows
			}
		default:
			if newer.value().multipleOf(older.value()) {
				effect = Narrows
			}
		}
		c.add(pointer, rule, effect, "was %s, is %s now", older.text, newer.text)
	}
}

func (c *comparison) arrays(pointer string, older, newer *node) {
	o, n := older.arr, newer.arr
	if o == nil {
		o = &arrayRules{max: -1}
	}
	if n == nil {
		n = &arrayRules{max: -1}
	}
	c.optional(child(pointer, "items"), "items", o.items, n.items)
	c.count(pointer, "minItems", o.min, n.min, Narrows)
	c.count(pointer, "maxItems", o.max, n.max, Widens)
	if o.unique != n.unique {
		effect, message := Widens, "items may repeat now"
		if n.unique {
			effect, message = Narrows, "items may no longer repeat"
		}
		c.add(pointer, "uniqueItems", effect, "%s", message)
	}
}

// optional compares two nodes of which nil accepts anything.
func (c *comparison) optional(pointer, rule string, older, newer *node) {
	anything := newNode(typeAny)
	switch {
	case older == nil && newer == nil:
	case older == nil:
		c.nodes(pointer, anything, newer)
	case newer == nil:
		c.nodes(pointer, older, anything)
	default:
		c.nodes(pointer, older, newer)
	}
}

func (c *comparison) objects(pointer string, older, newer *node) {
	if older.union != nil || newer.union != nil {
		c.unions(pointer, older.union, newer.union)
		return
	}
	o, n := older.obj, newer.obj
	if o == nil {
		o = &object{max: -1}
	}
	if n == nil {
		n = &object{max: -1}
	}
	for i := range n.fields {
		f := &n.fields[i]
		at := child(pointer, "properties", f.name())
		if j := o.find([]byte(f.name())); j >= 0 {
			c.fields(at, &o.fields[j], f)
		} else {
			c.addedField(at, o, f)
		}
	}
	for i := range o.fields {
		if f := &o.fields[i]; n.find([]byte(f.name())) < 0 {
			c.removedField(child(pointer, "properties", f.name()), n, f)
		}
	}
	switch {
	case o.closed && !n.closed:
		c.add(pointer, "additionalProperties", Widens, "accepts other members now")
	case !o.closed && n.closed:
		c.add(pointer, "additionalProperties", Narrows, "no longer accepts other members")
	case !o.closed:
		c.optional(child(pointer, "additionalProperties"), "additionalProperties", o.extra, n.extra)
	}
	c.count(pointer, "minProperties", o.min, n.min, Narrows)
	c.count(pointer, "maxProperties", o.max, n.max, Widens)
}

// addedField reports a property that is new. In an open object it could be sent before, with
// any value.
func (c *comparison) addedField(at string, older *object, f *field) {
	switch {
	case older.closed || c.direction == Output:
		c.add(at, "properties", Widens, "was added")
	case older.extra != nil:
		c.nodes(at, older.extra, f.node)
	default:
		c.add(at, "properties", Narrows, "is limited now")
	}
	if f.required {
		c.add(at, "required", Narrows, "is required")
	}
}

// removedField reports a property that is gone.
func (c *comparison) removedField(at string, newer *object, f *field) {
	switch {
	case newer.closed || c.direction == Output:
		c.add(at, "properties", Narrows, "was removed")
	default:
		c.add(at, "properties", Widens, "is no longer limited")
	}
	if f.required {
		c.add(at, "required", Widens, "is no longer required")
	}
}

// fields compares a property that both have.
func (c *comparison) fields(at string, older, newer *field) {
	switch {
	case older.required && !newer.required:
		c.add(at, "required", Widens, "is no longer required")
	case !older.required && newer.required:
		c.add(at, "required", Narrows, "is required now")
	}
	before, after := older.words(), newer.words()
	c.text(at, "title", before.title, after.title)
	c.text(at, "description", before.doc, after.doc)
	c.text(at, "examples", string(before.example), string(after.example))
	c.defaults(at, older.fallback, newer.fallback)
	switch {
	case older.secret && !newer.secret:
		c.add(at, "writeOnly", Widens, "is no longer secret")
	case !older.secret && newer.secret:
		c.add(at, "writeOnly", Narrows, "is secret now")
	}
	c.rules(at, older.node, newer.node)
}

// words returns what is said about a field: by its tags, or by its own schema.
func (f *field) words() annotations {
	words, own := f.note.words(), f.node.tree().note.words()
	if words.title == "" {
		words.title = own.title
	}
	if words.doc == "" {
		words.doc = own.doc
	}
	return words
}

// defaults compares what stands for a missing member. It decides what an input means, and
// meanings have no order.
func (c *comparison) defaults(at string, older, newer *fallback) {
	var before, after string
	if older != nil {
		before = string(appendKey(nil, older.json))
	}
	if newer != nil {
		after = string(appendKey(nil, newer.json))
	}
	if before == after {
		return
	}
	effect := Neutral
	if c.direction == Input {
		effect = Widens
	}
	c.add(at, "default", effect, "was %s, is %s now", defaultText(older), defaultText(newer))
}

func defaultText(b *fallback) string {
	if b == nil {
		return "unset"
	}
	return cut(b.json, echoLimit)
}

// unions compares the variants of two unions.
func (c *comparison) unions(pointer string, older, newer *unionRules) {
	if older == nil || newer == nil || older.discriminator != newer.discriminator {
		c.add(pointer, "anyOf", Widens, "is told apart in another way now")
		return
	}
	for i, name := range newer.names {
		at := child(pointer, "anyOf", strconv.Itoa(i))
		if j := slices.Index(older.names, name); j >= 0 {
			c.nodes(at, older.variants[j], newer.variants[i])
		} else {
			c.add(at, "anyOf", Widens, "variant %q was added", name)
		}
	}
	for i, name := range older.names {
		if !slices.Contains(newer.names, name) {
			c.add(child(pointer, "anyOf", strconv.Itoa(i)), "anyOf", Narrows, "variant %q was removed", name)
		}
	}
}
