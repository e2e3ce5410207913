package schema

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// parseDepth bounds the nesting of schema texts.
const parseDepth = 256

// Parse compiles a JSON Schema 2020-12 text. Its published form is the text itself, compacted.
//
// The keywords that this package compiles are checked as those of Go types are. A schema that
// uses others of the specification is checked by both, the tree first and then a complete
// validator. Formats are asserted. References must stay within the text. An unknown keyword, a
// value that its keyword does not take, an unknown format, a pattern that is not RE2 and a
// reference that leads elsewhere or into a circle are errors, which name the place in the
// schema as JSON Pointer, the keyword, and what would be right.
//
// The default of a property is filled in where the property is missing and not required,
// provided that its own schema accepts it; JSON Schema allows others, and they remain a remark.
// A property with "writeOnly": true is a secret.
func Parse(text []byte) (*Schema, error) {
	root, err := parseText(text, parseOptions{formats: true})
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return finish(root, nil), nil
}

// parseOptions adjusts the reading of schema texts.
type parseOptions struct {
	formats  bool // formats are asserted
	embedded bool // the text becomes part of another schema: no references
}

// parser compiles one schema text.
type parser struct {
	parseOptions
	text     []byte
	nodes    map[string]*node // by the pointer of their schema
	inPlace  map[string][]string
	within   map[string]bool // pure references being followed
	links    links
	complete bool // some keyword needs the complete validator
	pending  []func()
	applied  []application
}

// application is one place at which a schema is applied.
type application struct {
	from, keyword string
	to            string // "": somewhere that the tree can't tell
}

// parseText compiles a schema text into a tree.
func parseText(text []byte, o parseOptions) (*node, error) {
	if err := strictjson.Valid(text, parseDepth); err != nil {
		return nil, fmt.Errorf("the text is not JSON: %w", err)
	}
	p := &parser{
		parseOptions: o,
		text:         strictjson.Compact(nil, text),
		nodes:        map[string]*node{},
		inPlace:      map[string][]string{},
		within:       map[string]bool{},
	}
	if err := p.collectLinks(); err != nil {
		return nil, err
	}
	root, err := p.schema(p.text, "")
	if err != nil {
		return nil, err
	}
	if err := p.findCircle(); err != nil {
		return nil, err
	}
	if err := p.checkSecrets(root); err != nil {
		return nil, err
	}
	for _, fill := range p.pending {
		fill()
	}
	if p.complete {
		validator, err := newComplete(p.text, o.formats)
		if err != nil {
			return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
		whole := newNode(root.types)
		whole.rare().complete, whole.rare().described = validator, root
		whole.seal()
		root = whole
	}
	root.rare().text = p.text
	return root, nil
}

// mistake is an error at a place in the schema text.
func mistake(pointer, keyword, format string, args ...any) error {
	if keyword != "" {
		keyword += ": "
	}
	return fmt.Errorf("at %q: %s%s", pointer, keyword, fmt.Sprintf(format, args...))
}

// keywords are the members of one schema object.
type keywords []keyword

type keyword struct {
	name  string
	value []byte
}

// get returns the value of a keyword, or nil.
func (k keywords) get(name string) []byte {
	for i := range k {
		if k[i].name == name {
			return k[i].value
		}
	}
	return nil
}

// child returns the pointer of something below a pointer.
func child(pointer string, tokens ...string) string {
	out := []byte(pointer)
	for _, token := range tokens {
		out = appendToken(append(out, '/'), token)
	}
	return string(out)
}

// read lists the keywords of a schema object.
func (p *parser) read(raw []byte, pointer string) (keywords, error) {
	if raw[0] != '{' {
		return nil, mistake(pointer, "", "a schema must be an object, true or false")
	}
	var list keywords
	for members := strictjson.Members(raw, parseDepth); members.Next(); {
		name := string(members.Key())
		if list.get(name) != nil {
			return nil, mistake(pointer, name, "is there twice; remove one")
		}
		list = append(list, keyword{name, members.Value()})
	}
	return list, nil
}

// schema compiles the schema at a pointer, once.
func (p *parser) schema(raw []byte, pointer string) (*node, error) {
	if n := p.nodes[pointer]; n != nil {
		return n, nil
	}
	n := newNode(typeAny)
	if string(raw) == "true" || string(raw) == "false" {
		if raw[0] == 'f' {
			n.types = 0
		}
		p.nodes[pointer] = n
		return n, nil
	}
	list, err := p.read(raw, pointer)
	if err != nil {
		return nil, err
	}
	if target, err := p.pureReference(list, pointer); target != nil || err != nil {
		return target, err
	}
	p.nodes[pointer] = n
	// The types come first: what refers back to this schema may look at them.
	if value := list.get("type"); value != nil {
		if n.types, err = parseTypes(value, pointer); err != nil {
			return nil, err
		}
	}
	for _, k := range list {
		if err := p.keyword(n, list, k, pointer); err != nil {
			return nil, err
		}
	}
	if n.num != nil {
		n.num.seal()
	}
	if err := p.object(n, list, pointer); err != nil {
		return nil, err
	}
	if err := p.choice(n, list, pointer); err != nil {
		return nil, err
	}
	n.seal()
	return n, nil
}

// keyword compiles one keyword, or makes certain that the complete validator can.
func (p *parser) keyword(n *node, list keywords, k keyword, pointer string) error {
	shape, compiled := keywordShape(k.name)
	if !compiled {
		p.complete = true
	}
	switch shape {
	case shapeUnknown:
		if better := replaced(k.name); better != "" {
			return mistake(pointer, k.name, "is not a keyword of JSON Schema 2020-12; use %s", better)
		}
		return mistake(pointer, k.name, "is not a keyword of JSON Schema 2020-12; remove it")
	case shapeRefused:
		return mistake(pointer, k.name, "other vocabularies are not supported; remove it")
	case shapeSchema:
		return p.schemaKeyword(n, list, k, pointer)
	case shapeList:
		return p.listKeyword(k, pointer)
	case shapeMap:
		return p.mapKeyword(k, pointer)
	case shapeText:
		return p.textKeyword(n, k, pointer)
	case shapeFlag:
		return flagKeyword(n, k, pointer)
	case shapeCount:
		return countKeyword(n, k, pointer)
	case shapeNumber:
		return numberKeyword(n, k, pointer)
	case shapeNames:
		_, err := parseNames(k.value, pointer, k.name)
		return err
	case shapeNamesMap:
		return namesMapKeyword(k, pointer)
	case shapeValues, shapeValue:
		return valueKeyword(n, k, pointer)
	}
	return nil
}

// schemaKeyword compiles a keyword whose value is a schema.
func (p *parser) schemaKeyword(n *node, list keywords, k keyword, pointer string) error {
	sub, err := p.schema(k.value, child(pointer, k.name))
	if err != nil {
		return err
	}
	p.applied = append(p.applied, application{pointer, k.name, child(pointer, k.name)})
	switch k.name {
	case "items":
		if list.get("prefixItems") == nil {
			n.array().items = sub
		}
	case "not", "if", "then", "else":
		p.mark(pointer, child(pointer, k.name))
	}
	return nil
}

// array returns the rules for arrays, made if need be.
func (n *node) array() *arrayRules {
	if n.arr == nil {
		n.arr = &arrayRules{max: -1}
	}
	return n.arr
}

// listKeyword compiles a keyword whose value is an array of schemas.
func (p *parser) listKeyword(k keyword, pointer string) error {
	if k.value[0] != '[' || string(k.value) == "[]" {
		return mistake(pointer, k.name, "must be an array of schemas and not empty")
	}
	i := 0
	for elements := strictjson.Elements(k.value, parseDepth); elements.Next(); i++ {
		at := child(pointer, k.name, strconv.Itoa(i))
		if _, err := p.schema(elements.Value(), at); err != nil {
			return err
		}
		p.applied = append(p.applied, application{pointer, k.name, at})
		if k.name != "prefixItems" {
			p.mark(pointer, at)
		}
	}
	return nil
}

// mapKeyword compiles a keyword whose value is an object of schemas.
func (p *parser) mapKeyword(k keyword, pointer string) error {
	if k.value[0] != '{' {
		return mistake(pointer, k.name, "must be an object of schemas")
	}
	var names [][]byte
	for members := strictjson.Members(k.value, parseDepth); members.Next(); {
		name := members.Key()
		if slices.ContainsFunc(names, func(other []byte) bool { return bytes.Equal(name, other) }) {
			return mistake(pointer, k.name, "the name %q is there twice; remove one", name)
		}
		names = append(names, name)
		at := child(pointer, k.name, string(name))
		if k.name == "patternProperties" {
			if err := checkPattern(string(name)); err != nil {
				return mistake(at, "", "%v", err)
			}
		}
		if _, err := p.schema(members.Value(), at); err != nil {
			return err
		}
		p.applied = append(p.applied, application{pointer, k.name, at})
		if k.name == "dependentSchemas" {
			p.mark(pointer, at)
		}
	}
	return nil
}

// checkSecrets refuses a secret that only the complete validator would see: it could not be
// kept out of faults and records. What counts is every place at which it is applied, for the
// tree may see one schema at one place and not at another.
func (p *parser) checkSecrets(root *node) error {
	const cure = "a secret must stand under properties, items or additionalProperties, not under keywords that combine schemas"
	tree := reachable(root)
	secrets := slices.DeleteFunc(slices.Sorted(maps.Keys(p.nodes)), func(at string) bool { return !p.nodes[at].secret })
	for _, at := range secrets {
		if !slices.Contains(tree, p.nodes[at]) {
			return mistake(at, "writeOnly", cure)
		}
	}
	if len(secrets) == 0 {
		return nil
	}
	for _, a := range p.applied {
		if !p.followed(a) && (a.to == "" || slices.ContainsFunc(reachable(p.nodes[a.to]), (*node).holdsSecret)) {
			return mistake(a.from, a.keyword, "leads to a secret; "+cure)
		}
	}
	return nil
}

// followed reports whether the tree leads from one schema to the other by this very keyword.
func (p *parser) followed(a application) bool {
	from, to := p.nodes[a.from], p.nodes[a.to]
	switch a.keyword {
	case "properties", "$defs", "contentSchema":
		return true // the last two apply nothing by themselves
	case "items":
		return from.arr != nil && from.arr.items == to
	case "additionalProperties":
		return to.types == 0 || from.obj != nil && from.obj.extra == to
	case "anyOf", "oneOf":
		return from.union != nil && slices.Contains(from.union.variants, to) ||
			slices.ContainsFunc(from.branches, func(b branch) bool { return b.node == to })
	}
	return false
}

// mark notes that the schema at one pointer applies another to the same value.
func (p *parser) mark(from, to string) { p.inPlace[from] = append(p.inPlace[from], to) }

// findCircle reports a schema that applies itself to the same value without end.
func (p *parser) findCircle() error {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(string) error
	visit = func(at string) error {
		switch state[at] {
		case open:
			return mistake(at, "", "refers to itself for the same value, which has no end; put a property or items in between")
		case done:
			return nil
		}
		state[at] = open
		for _, next := range p.inPlace[at] {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[at] = done
		return nil
	}
	for _, from := range slices.Sorted(maps.Keys(p.inPlace)) {
		if err := visit(from); err != nil {
			return err
		}
	}
	return nil
}
