package schema

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// parseTypes reads the value of the keyword type.
func parseTypes(value []byte, pointer string) (types, error) {
	names := []string{}
	if value[0] == '"' {
		names = append(names, stringValue(value))
	} else {
		var err error
		if names, err = parseNames(value, pointer, "type"); err != nil || len(names) == 0 {
			return 0, mistake(pointer, "type", "must be the name of a type or an array of different names")
		}
	}
	var all types
	for _, name := range names {
		i := slices.IndexFunc(typeNames[:], func(known struct {
			bit  types
			name string
		},
		) bool {
			return known.name == name
		})
		if i < 0 {
			return 0, mistake(pointer, "type", "%q is not a type; known are object, array, string, number, integer, boolean and null", name)
		}
		all |= typeNames[i].bit
	}
	if all&typeNumber != 0 {
		all |= typeInteger
	}
	return all, nil
}

// stringValue decodes a valid JSON string.
func stringValue(value []byte) string { return string(strictjson.Unquote(value[1 : len(value)-1])) }

// parseNames reads an array of different strings.
func parseNames(value []byte, pointer, name string) ([]string, error) {
	problem := mistake(pointer, name, "must be an array of different strings")
	if value[0] != '[' {
		return nil, problem
	}
	var names []string
	for elements := strictjson.Elements(value, parseDepth); elements.Next(); {
		element := elements.Value()
		if element[0] != '"' || slices.Contains(names, stringValue(element)) {
			return nil, problem
		}
		names = append(names, stringValue(element))
	}
	return names, nil
}

func namesMapKeyword(k keyword, pointer string) error {
	if k.value[0] != '{' {
		return mistake(pointer, k.name, "must be an object of arrays of strings")
	}
	for members := strictjson.Members(k.value, parseDepth); members.Next(); {
		if _, err := parseNames(members.Value(), pointer, k.name); err != nil {
			return err
		}
	}
	return nil
}

// checkPattern reports a pattern that is not RE2.
func checkPattern(pattern string) error {
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("%q is not an RE2 pattern (%w); lookaround and backreferences are not supported", cut(pattern, 2*echoLimit), err)
	}
	return nil
}

// textKeyword compiles a keyword whose value is a string.
func (p *parser) textKeyword(n *node, k keyword, pointer string) error {
	if k.value[0] != '"' {
		return mistake(pointer, k.name, "must be a string")
	}
	text := stringValue(k.value)
	switch k.name {
	case "title":
		n.annotations().title = text
	case "description":
		n.annotations().doc = text
	case "pattern":
		if err := checkPattern(text); err != nil {
			return mistake(pointer, k.name, "%v", err)
		}
		n.strings().pattern = regexp.MustCompile(text)
	case "format":
		return p.formatKeyword(n, text, pointer)
	case "$schema":
		if strings.TrimSuffix(text, "#") != dialect {
			return mistake(pointer, k.name, "only %s is supported", dialect)
		}
	case "$ref":
		return p.reference(text, pointer)
	case "$id", "$anchor", "$dynamicAnchor", "$dynamicRef":
		if p.embedded {
			return mistake(pointer, k.name, "a schema that becomes part of another can't hold references")
		}
		if k.name == "$dynamicRef" {
			p.applied = append(p.applied, application{pointer, k.name, ""})
		}
	}
	return nil
}

func (p *parser) formatKeyword(n *node, name, pointer string) error {
	if !p.formats {
		return nil
	}
	if f := formatNamed(name); f != formatNone {
		n.strings().format = f
		return nil
	}
	switch name {
	case "duration", "iri", "iri-reference", "uri-template", "relative-json-pointer", "regex":
		p.complete = true
		return nil
	}
	return mistake(pointer, "format", "%q is not a format that is checked here; known are %s, duration, iri, iri-reference, uri-template, relative-json-pointer and regex",
		name, strings.Join(formatNames(), ", "))
}

// strings returns the rules for strings, made if need be.
func (n *node) strings() *stringRules {
	if n.str == nil {
		n.str = &stringRules{max: -1}
	}
	return n.str
}

// annotations returns the words of n, made if need be.
func (n *node) annotations() *annotations {
	own := n.rare()
	if own.note == nil {
		own.note = &annotations{}
	}
	return own.note
}

func flagKeyword(n *node, k keyword, pointer string) error {
	if k.value[0] != 't' && k.value[0] != 'f' {
		return mistake(pointer, k.name, "must be true or false")
	}
	if k.value[0] == 't' {
		switch k.name {
		case "uniqueItems":
			n.array().unique = true
		case "writeOnly":
			n.secret = true
		}
	}
	return nil
}

// countKeyword compiles a keyword whose value is a number of things. A limit that no value in
// memory can reach is as good as the largest one.
func countKeyword(n *node, k keyword, pointer string) error {
	if c := k.value[0]; c != '-' && c-'0' > 9 {
		return mistake(pointer, k.name, "must be a whole number, not negative")
	}
	d := parseDecimal(k.value)
	if d.negative || !d.integral() {
		return mistake(pointer, k.name, "must be a whole number, not negative")
	}
	count := math.MaxInt32
	if i, ok := d.int64(); ok && i < math.MaxInt32 {
		count = int(i)
	}
	switch k.name {
	case "minLength":
		n.strings().min = count
	case "maxLength":
		n.strings().max = count
	case "minItems":
		n.array().min = count
	case "maxItems":
		n.array().max = count
	}
	return nil
}

func numberKeyword(n *node, k keyword, pointer string) error {
	if c := k.value[0]; c != '-' && c-'0' > 9 {
		return mistake(pointer, k.name, "must be a number")
	}
	if n.num == nil {
		n.num = &numberRules{}
	}
	for _, rule := range n.num.limits() {
		if rule.name != k.name {
			continue
		}
		*rule.to = newLimit(k.value)
		if k.name == "multipleOf" {
			if err := checkStep(*rule.to); err != nil {
				return mistake(pointer, k.name, "%v", err)
			}
		}
	}
	return nil
}

// valueKeyword compiles a keyword that holds values.
func valueKeyword(n *node, k keyword, pointer string) error {
	switch k.name {
	case "const":
		n.enum = n.enum.and(newEnum(true, [][]byte{k.value}))
	case "enum", "examples":
		if k.value[0] != '[' {
			return mistake(pointer, k.name, "must be an array of values")
		}
		var values [][]byte
		for elements := strictjson.Elements(k.value, parseDepth); elements.Next(); {
			values = append(values, elements.Value())
		}
		if k.name == "examples" {
			return nil
		}
		n.enum = n.enum.and(newEnum(false, values))
	}
	return nil
}
