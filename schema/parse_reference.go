package schema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// links is what is known about the identifiers in a schema text.
type links struct {
	known  map[string]bool // absolute identifiers, without fragment
	nested bool            // some subschema has an identifier of its own
	refs   []link
}

// link is one reference.
type link struct {
	pointer, keyword string
	target           *url.URL
}

// collectLinks notes all identifiers and references, and refuses those that lead outside.
func (p *parser) collectLinks() error {
	p.links.known = map[string]bool{}
	base := &url.URL{Scheme: "schema", Path: "/"}
	p.links.known[base.String()] = true
	if err := p.collect(p.text, "", base); err != nil {
		return err
	}
	for _, l := range p.links.refs {
		target := *l.target
		target.Fragment, target.RawFragment = "", ""
		if !p.links.known[target.String()] {
			return mistake(l.pointer, l.keyword, "leads outside of the schema; copy what it refers to into \"$defs\"")
		}
	}
	return nil
}

// collect walks a schema and those in it.
func (p *parser) collect(raw []byte, pointer string, base *url.URL) error {
	if raw[0] != '{' {
		return nil
	}
	list, err := p.read(raw, pointer)
	if err != nil {
		return err
	}
	if value := list.get("$id"); value != nil && value[0] == '"' {
		id, err := base.Parse(stringValue(value))
		if err != nil || id.Fragment != "" {
			return mistake(pointer, "$id", "must be a URI reference without fragment")
		}
		base = id
		p.links.known[id.String()] = true
		p.links.nested = p.links.nested || pointer != ""
	}
	for _, name := range []string{"$ref", "$dynamicRef"} {
		if value := list.get(name); value != nil && value[0] == '"' {
			target, err := base.Parse(stringValue(value))
			if err != nil {
				return mistake(pointer, name, "must be a URI reference")
			}
			p.links.refs = append(p.links.refs, link{pointer, name, target})
		}
	}
	for _, k := range list {
		if err := p.collectBelow(k, pointer, base); err != nil {
			return err
		}
	}
	return nil
}

// collectBelow walks the schemas in the value of a keyword.
func (p *parser) collectBelow(k keyword, pointer string, base *url.URL) error {
	shape, _ := keywordShape(k.name)
	switch {
	case shape == shapeSchema:
		return p.collect(k.value, child(pointer, k.name), base)
	case shape == shapeList && k.value[0] == '[':
		i := 0
		for elements := strictjson.Elements(k.value, parseDepth); elements.Next(); i++ {
			if err := p.collect(elements.Value(), child(pointer, k.name, strconv.Itoa(i)), base); err != nil {
				return err
			}
		}
	case shape == shapeMap && k.value[0] == '{':
		for members := strictjson.Members(k.value, parseDepth); members.Next(); {
			if err := p.collect(members.Value(), child(pointer, k.name, string(members.Key())), base); err != nil {
				return err
			}
		}
	}
	return nil
}

// local returns the pointer that a reference leads to, if the tree can follow it: within a text
// that has one identifier at most, by pointer.
func (p *parser) local(ref string) (pointer string, ok bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok || p.links.nested || fragment != "" && fragment[0] != '/' {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil
}

// lookUp returns the value at a pointer, or nil.
func (p *parser) lookUp(pointer string) []byte {
	raw := p.text
	if pointer == "" {
		return raw
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var found []byte
		switch raw[0] {
		case '{':
			for members := strictjson.Members(raw, parseDepth); members.Next(); {
				if string(members.Key()) == token {
					found = members.Value()
				}
			}
		case '[':
			i := 0
			for elements := strictjson.Elements(raw, parseDepth); elements.Next(); i++ {
				if strconv.Itoa(i) == token {
					found = elements.Value()
				}
			}
		}
		if found == nil {
			return nil
		}
		raw = found
	}
	return raw
}

// pureReference returns the node that a schema refers to, if it makes no demand of its own.
func (p *parser) pureReference(list keywords, pointer string) (*node, error) {
	value := list.get("$ref")
	if value == nil || value[0] != '"' || p.embedded {
		return nil, nil
	}
	for _, k := range list {
		if k.name != "$ref" && (!annotation(k.name) || k.name == "writeOnly") {
			return nil, nil
		}
	}
	target, ok := p.local(stringValue(value))
	if !ok {
		return nil, nil
	}
	raw := p.lookUp(target)
	if raw == nil {
		return nil, mistake(pointer, "$ref", "leads to nothing; there is no %q", target)
	}
	if p.within[pointer] {
		return nil, mistake(pointer, "$ref", "refers to itself without end")
	}
	p.within[pointer] = true
	defer delete(p.within, pointer)
	for _, k := range list {
		if k.name != "$ref" {
			if err := p.keyword(newNode(0), list, k, pointer); err != nil {
				return nil, err
			}
		}
	}
	p.mark(pointer, target)
	n, err := p.schema(raw, target)
	if err == nil {
		p.nodes[pointer] = n
	}
	return n, err
}

// reference checks a reference that has demands beside it, or that the tree can't follow.
func (p *parser) reference(ref, pointer string) error {
	if p.embedded {
		return mistake(pointer, "$ref", "a schema that becomes part of another can't hold references")
	}
	p.complete = true
	target, ok := p.local(ref)
	if !ok {
		p.applied = append(p.applied, application{pointer, "$ref", ""})
		return nil // the complete validator resolves it, or refuses the schema
	}
	raw := p.lookUp(target)
	if raw == nil {
		return mistake(pointer, "$ref", "leads to nothing; there is no %q", target)
	}
	p.mark(pointer, target)
	p.applied = append(p.applied, application{pointer, "$ref", target})
	_, err := p.schema(raw, target)
	return err
}
