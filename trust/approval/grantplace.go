package approval

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
)

// place is what a contract says of the values at one place of its input: all
// schemas that can apply there. Of several variants it knows no difference, and errs
// by allowing for more than there can be.
type place struct {
	root    any
	schemas []map[string]any
}

// inputOf is the whole input of a contract.
func inputOf(c ambit.AnyContract) place {
	var root any
	if json.Unmarshal(c.Input().JSON(), &root) != nil { // it is published, so it is JSON
		return place{}
	}
	return place{root: root}.at(root)
}

// at is the place to which some schemas apply, and those that they lead to.
func (p place) at(schemas ...any) place {
	there := place{root: p.root}
	var seen []string
	for len(schemas) > 0 {
		s, ok := schemas[0].(map[string]any)
		if schemas[0] == true {
			s, ok = map[string]any{}, true // which says as much
		}
		schemas = schemas[1:]
		if !ok {
			continue
		}
		there.schemas = append(there.schemas, s)
		for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
			list, _ := s[keyword].([]any)
			schemas = append(schemas, list...)
		}
		if to, ok := s["$ref"].(string); ok && !slices.Contains(seen, to) {
			seen = append(seen, to)
			schemas = append(schemas, p.referred(to))
		}
	}
	return there
}

// referred returns what a reference leads to, nil where that is not known.
func (p place) referred(to string) any {
	pointer, ok := strings.CutPrefix(to, "#")
	value := p.root
	for token := range strings.SplitSeq(pointer, "/") {
		if token == "" {
			continue
		}
		object, _ := value.(map[string]any)
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	if !ok {
		return nil
	}
	return value
}

// leaf reports whether a schema leaves nothing to others.
func leaf(s map[string]any) bool {
	return s["anyOf"] == nil && s["oneOf"] == nil && s["allOf"] == nil && s["$ref"] == nil
}

// typesOf returns the types that a schema names, nil for none.
func typesOf(s map[string]any) (types []string) {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				types = append(types, name)
			}
		}
	}
	return types
}

// types returns the types that a value there can have, each once; nil: any.
func (p place) types() (types []string) {
	for _, s := range p.schemas {
		named := typesOf(s)
		if named == nil && leaf(s) {
			return nil
		}
		for _, t := range named {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

// secret reports whether the value there is one.
func (p place) secret() bool {
	return slices.ContainsFunc(p.schemas, func(s map[string]any) bool { return s["writeOnly"] == true })
}

// members returns the names of the members that are described there, in order.
func (p place) members() []string {
	names := map[string]bool{}
	for _, s := range p.schemas {
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// member is the place of a member there.
func (p place) member(name string) place {
	var schemas []any
	for _, s := range p.schemas {
		properties, _ := s["properties"].(map[string]any)
		said := patterned(s, name)
		if properties[name] != nil {
			said = append(said, properties[name])
		}
		if said == nil {
			said = append(said, s["additionalProperties"])
		}
		schemas = append(schemas, said...)
	}
	return p.at(schemas...)
}

// others is the place of any member there that is not described.
func (p place) others() place {
	var schemas []any
	for _, s := range p.schemas {
		patterns, _ := s["patternProperties"].(map[string]any)
		rest := s["additionalProperties"]
		if len(patterns) > 0 && rest == nil {
			rest = restOf(s, "unevaluatedProperties")
		}
		schemas = append(slices.AppendSeq(schemas, maps.Values(patterns)), rest)
	}
	return p.at(schemas...)
}

// restOf returns what holds for whatever else there is, where a schema says something
// of a part: what it says so of everything that it has said nothing of, or that it can
// be anything, which the part must not hide.
func restOf(s map[string]any, keyword string) any {
	if s[keyword] == nil {
		return true
	}
	return s[keyword]
}

// patterned returns what a schema says by patterns about the member of a name.
func patterned(s map[string]any, name string) (said []any) {
	patterns, _ := s["patternProperties"].(map[string]any)
	for pattern, schema := range patterns {
		if re, err := regexp.Compile(pattern); err != nil || re.MatchString(name) {
			said = append(said, schema)
		}
	}
	return said
}

// elements is the place of the elements of an array there.
func (p place) elements() place {
	var schemas []any
	for _, s := range p.schemas {
		first, _ := s["prefixItems"].([]any)
		rest := s["items"]
		if len(first) > 0 && rest == nil {
			rest = restOf(s, "unevaluatedItems")
		}
		schemas = append(append(schemas, first...), rest)
	}
	return p.at(schemas...)
}

// open reports whether an object there can have members of any name.
func (p place) open() bool {
	return len(p.schemas) == 0 || slices.ContainsFunc(p.schemas, func(s map[string]any) bool {
		types := typesOf(s)
		return (leaf(s) || s["properties"] != nil) && (types == nil || slices.Contains(types, "object")) &&
			s["additionalProperties"] != false && s["unevaluatedProperties"] != false
	})
}

// takes reports whether an object there can have a member of a name.
func (p place) takes(name string) bool {
	return p.open() || slices.Contains(p.members(), name) || slices.ContainsFunc(p.schemas, func(s map[string]any) bool { return patterned(s, name) != nil })
}

// undescribed reports whether an object there can have members that are not described
// by their names.
func (p place) undescribed() bool {
	return p.open() || slices.ContainsFunc(p.schemas, func(s map[string]any) bool { return s["patternProperties"] != nil })
}

// has reports whether every object there has a member, required or by its default.
func (p place) has(name string) bool {
	found := false
	for _, s := range p.schemas {
		properties, ok := s["properties"].(map[string]any)
		if !ok {
			continue
		}
		required, _ := s["required"].([]any)
		described, _ := properties[name].(map[string]any)
		if _, fills := described["default"]; !fills && !slices.Contains(required, any(name)) {
			return false
		}
		found = true
	}
	return found
}

// namesSecret reports whether a value there has a member that is a secret.
func (p place) namesSecret(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if there := p.member(name); there.secret() || there.namesSecret(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, p.elements().namesSecret)
	}
	return false
}
