package approval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/schema"
)

// grantWords are the keywords that the schema of a grant can have, and the types of
// the values to which they mean something; nil: all. They are those by which each
// member is held to something where it stands. JSON Schema has others that combine
// or depend, of which nobody sees at a glance what they let through.
var grantWords = map[string][]string{
	"title": nil, "description": nil, "$comment": nil, "$schema": nil,
	"type": nil, "const": nil, "enum": nil,
	"properties": {"object"}, "required": {"object"}, "additionalProperties": {"object"}, "minProperties": {"object"}, "maxProperties": {"object"},
	"items": {"array"}, "minItems": {"array"}, "maxItems": {"array"}, "uniqueItems": {"array"},
	"pattern": {"string"}, "format": {"string"}, "minLength": {"string"}, "maxLength": {"string"},
	"minimum": {"number", "integer"}, "maximum": {"number", "integer"}, "multipleOf": {"number", "integer"},
	"exclusiveMinimum": {"number", "integer"}, "exclusiveMaximum": {"number", "integer"},
}

// remarks reports whether a keyword holds nothing to anything.
func remarks(word string) bool {
	return word == "title" || word == "description" || word == "$comment" || word == "$schema"
}

// grantInput checks the schema of a grant, and returns it in one line.
func grantInput(text json.RawMessage, of ambit.AnyContract) (json.RawMessage, error) {
	switch {
	case len(text) == 0:
		return nil, ambit.Invalid("/input", "The JSON Schema of the input is missing: {} allows any.")
	case len(text) > maxGrantInput:
		return nil, ambit.Invalid("/input", fmt.Sprintf("The JSON Schema of the input has more than %d bytes.", maxGrantInput))
	}
	if _, err := schema.Parse(text); err != nil {
		return nil, ambit.Invalid("/input", "This is no JSON Schema of an input: "+err.Error())
	}
	var tree any
	var line bytes.Buffer
	if json.Unmarshal(text, &tree) != nil || json.Compact(&line, text) != nil {
		return nil, ambit.Invalid("/input", "This is no JSON Schema of an input.")
	}
	if _, object := tree.(map[string]any); !object {
		return nil, ambit.Invalid("/input", "The JSON Schema of the input is no object: {} allows any.")
	}
	if fault := inputFault("", tree, inputOf(of)); fault != "" {
		return nil, ambit.Invalid("/input", fault+".")
	}
	return line.Bytes(), nil
}

// inputFault says what of a schema, at a place of the input, would hold nobody to
// what it seems to, or "".
func inputFault(at string, said any, of place) string {
	s, ok := said.(map[string]any)
	if !ok { // not there, or true or false, which are clear
		return ""
	}
	can := typesOf(s)
	if can == nil {
		can = of.types()
	}
	for _, word := range slices.Sorted(maps.Keys(s)) {
		types, known := grantWords[word]
		switch {
		case remarks(word):
		case !known:
			return fmt.Sprintf("The JSON Schema has %q%s, by which nobody sees at a glance what it allows: say with properties, required, const, enum, pattern and limits what each member can be, and give one grant for each alternative", word, whereof(at))
		case of.secret():
			return fmt.Sprintf("The JSON Schema has %q%s, which is secret: a grant is not shown what it is and can hold nobody to it, so leave it at {}", word, whereof(at))
		case types != nil && can == nil:
			return fmt.Sprintf("The JSON Schema has %q%s, where a value of another type would be free: say its type as well", word, whereof(at))
		case types != nil && slices.ContainsFunc(can, func(t string) bool { return !slices.Contains(types, t) }):
			return fmt.Sprintf("The JSON Schema has %q%s, where a value can be of the type %s: that would be free, so say another type as well, or use another keyword", word, whereof(at), strings.Join(can, " or "))
		case word == "const" && of.namesSecret(s[word]), word == "enum" && slices.ContainsFunc(s[word].([]any), of.namesSecret): // schema.Parse takes no other enum
			return fmt.Sprintf("The JSON Schema has %q%s with a secret in it, which a grant must not have: say what the other members can be", word, whereof(at))
		}
	}
	if fault := membersFault(at, s, of); fault != "" {
		return fault
	}
	return inputFault(at+"/*", s["items"], of.elements())
}

// membersFault is inputFault for what a schema says of the members of an object.
func membersFault(at string, s map[string]any, of place) string {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := slices.Sorted(maps.Keys(properties))
	for _, name := range required {
		if name, ok := name.(string); ok {
			names = append(names, name)
		}
	}
	described := of.members()
	for _, name := range names {
		if !of.takes(name) {
			return fmt.Sprintf("The JSON Schema speaks of %q%s, which is no member there: %s", name, whereof(at), thoseOf(described))
		}
		if fault := inputFault(at+"/"+name, properties[name], of.member(name)); fault != "" {
			return fault
		}
	}
	_, holds := s["additionalProperties"].(map[string]any)
	for _, name := range described {
		switch member, named := properties[name]; {
		case of.has(name) && (member == false || !named && s["additionalProperties"] == false):
			return fmt.Sprintf("The JSON Schema does not let %q be there%s, which always is, if by its default: nothing would be allowed, so say what it can be", name, whereof(at))
		case holds && !named:
			return fmt.Sprintf("The JSON Schema has \"additionalProperties\"%s, which would speak of %q as well: name it in properties", whereof(at), name)
		}
	}
	return inputFault(at+"/*", s["additionalProperties"], of.others())
}

// thoseOf names the members of an object, as far as a line has room.
func thoseOf(names []string) string {
	const room = 10
	switch {
	case len(names) == 0:
		return "there are none"
	case len(names) > room:
		return fmt.Sprintf("there are %s and %d more", strings.Join(names[:room], ", "), len(names)-room)
	}
	return "there are " + strings.Join(names, ", ")
}

// whereof names a place in a sentence, "" for the whole input.
func whereof(at string) string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf(" for %q", at[1:])
}
