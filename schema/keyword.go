package schema

import "strings"

// dialect is the only value of $schema that is accepted.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// shape says what the value of a keyword has to be.
type shape uint8

const (
	shapeUnknown  shape = iota
	shapeSchema         // a schema
	shapeList           // an array of schemas
	shapeMap            // an object of schemas
	shapeText           // a string
	shapeFlag           // true or false
	shapeCount          // a whole number, not negative
	shapeNumber         // a number
	shapeNames          // an array of different strings
	shapeNamesMap       // an object of such arrays
	shapeValues         // an array of values
	shapeValue          // any value
	shapeTypes          // the name of a type, or an array of such names
	shapeRefused        // known, and not supported on purpose
)

// keywordShape returns the shape of a keyword of JSON Schema 2020-12, and whether the tree
// checks all that it asks for; if not, the complete validator is needed.
func keywordShape(name string) (s shape, compiled bool) {
	switch name {
	case "items", "additionalProperties":
		return shapeSchema, true
	case "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		return shapeSchema, false
	case "contentSchema":
		return shapeSchema, true // an annotation
	case "anyOf", "oneOf":
		return shapeList, true // or not: see choice
	case "allOf", "prefixItems":
		return shapeList, false
	case "properties", "$defs":
		return shapeMap, true
	case "patternProperties", "dependentSchemas":
		return shapeMap, false
	case "title", "description", "$comment", "contentEncoding", "contentMediaType", "format", "pattern", "$schema", "$id", "$ref":
		return shapeText, true
	case "$anchor", "$dynamicAnchor", "$dynamicRef":
		return shapeText, false
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		return shapeFlag, true
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return shapeCount, true
	case "minContains", "maxContains":
		return shapeCount, false
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return shapeNumber, true
	case "required":
		return shapeNames, true
	case "dependentRequired":
		return shapeNamesMap, false
	case "enum", "examples":
		return shapeValues, true
	case "const", "default":
		return shapeValue, true
	case "type":
		return shapeTypes, true
	case "$vocabulary":
		return shapeRefused, true
	}
	return shapeUnknown, false
}

// replaced says what to write instead of keywords of older drafts and of other dialects.
func replaced(name string) string {
	switch name {
	case "definitions":
		return `"$defs"`
	case "dependencies":
		return `"dependentRequired" or "dependentSchemas"`
	case "additionalItems":
		return `"items" after "prefixItems"`
	case "id":
		return `"$id"`
	case "example":
		return `"examples", an array`
	case "nullable":
		return `"anyOf" with {"type":"null"}`
	case "discriminator":
		return `"anyOf" whose branches require one member with a "const"`
	case "$recursiveRef":
		return `"$dynamicRef"`
	case "$recursiveAnchor":
		return `"$dynamicAnchor"`
	}
	for _, known := range []string{
		"items", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
		"anyOf", "oneOf", "allOf", "prefixItems", "properties", "patternProperties", "dependentSchemas", "title",
		"description", "format", "pattern", "deprecated", "readOnly", "writeOnly", "uniqueItems", "minLength",
		"maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains", "minimum",
		"maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "required", "dependentRequired", "enum",
		"examples", "const", "default", "type", "$defs", "$ref", "$id", "$schema", "$comment",
	} {
		if strings.EqualFold(known, name) || distance([]byte(name), known, 3) < 3 && len(name) > 4 {
			return `"` + known + `"`
		}
	}
	return ""
}

// annotation reports whether a keyword makes no demand on a value.
func annotation(name string) bool {
	switch name {
	case "title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"contentEncoding", "contentMediaType", "contentSchema", "$schema", "$id", "$defs":
		return true
	}
	return false
}
