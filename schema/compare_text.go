package schema

import (
	"bytes"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// remainder compares what only the complete validator knows. Its keywords can't be put in
// order, so that any difference is widening.
func (c *comparison) remainder(older, newer *node) {
	if older.complete == nil && newer.complete == nil {
		return
	}
	if !bytes.Equal(demands(older), demands(newer)) {
		c.add("", "schema", Widens, "keywords that can't be compared one by one have changed")
	}
}

// demands returns a form of what a root asks for beyond its tree.
func demands(n *node) []byte {
	if n.complete == nil {
		return nil
	}
	return appendKey(nil, appendDemands(nil, n.text, false))
}

// appendDemands appends a schema text without its annotations and, unless all is set, without
// what the tree checks.
func appendDemands(dst, raw []byte, all bool) []byte {
	if raw[0] != '{' {
		return append(dst, raw...)
	}
	dst = append(dst, '{')
	for members := strictjson.Members(raw, strictjson.MaxDepth); members.Next(); {
		name, value := string(members.Key()), members.Value()
		shape, compiled := keywordShape(name)
		whole := all || !compiled || uncertain(name, value)
		nested := shape == shapeSchema || shape == shapeMap
		if annotation(name) && name != "$defs" && name != "$id" || !whole && !nested {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(strictjson.AppendString(dst, name), ':')
		dst = appendKeywordDemands(dst, shape, value, whole)
	}
	return append(dst, '}')
}

// uncertain reports whether a keyword that the tree may check is perhaps left to the complete
// validator.
func uncertain(name string, value []byte) bool {
	switch name {
	case "anyOf", "oneOf", "$ref", "$id":
		return true
	case "format":
		return formatNamed(stringValue(value)) == formatNone
	}
	return false
}

// appendKeywordDemands appends the value of a keyword, with the schemas in it treated alike.
func appendKeywordDemands(dst []byte, s shape, value []byte, all bool) []byte {
	switch {
	case s == shapeSchema:
		return appendDemands(dst, value, all)
	case s == shapeList:
		dst = append(dst, '[')
		for elements := strictjson.Elements(value, strictjson.MaxDepth); elements.Next(); {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = appendDemands(dst, elements.Value(), all)
		}
		return append(dst, ']')
	case s == shapeMap:
		dst = append(dst, '{')
		for members := strictjson.Members(value, strictjson.MaxDepth); members.Next(); {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(strictjson.AppendString(dst, members.Key()), ':')
			dst = appendDemands(dst, members.Value(), all)
		}
		return append(dst, '}')
	}
	return append(dst, value...)
}
