package schema

import (
	"bytes"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// Repair mends what some models get wrong: where a fault says that a value has the wrong type,
// and the value is a string that spells the number or the boolean that the schema wants there,
// the string becomes that value. Data and faults are what [Schema.Decode] or [Schema.Check] was
// given and returned. It returns a new text and the JSON Pointers of what it changed, in
// document order, or nil where there is nothing to mend. The new text has not been checked. It
// is safe for concurrent use.
func (s *Schema) Repair(data []byte, faults []Fault) (repaired []byte, pointers []string) {
	wanted := map[string]bool{}
	for _, f := range faults {
		switch f.Rule {
		case "type":
			wanted[f.Pointer] = true
		case "syntax", "utf8", "depth", "duplicate": // the text is not one that can be walked
			return nil, nil
		}
	}
	w := rewrite{replace: func(dst []byte, n *node, _ bool, pointer, value []byte) ([]byte, bool) {
		if n == nil || !wanted[string(pointer)] {
			return dst, false
		}
		text, ok := n.spelled(value)
		if !ok {
			return dst, false
		}
		pointers = append(pointers, string(pointer))
		return append(dst, text...), true
	}}
	if len(wanted) > 0 {
		repaired = w.value(nil, s.root, false, nil, bytes.TrimSpace(data))
	}
	if len(pointers) == 0 {
		return nil, nil
	}
	return repaired, pointers
}

// spelled returns the number or boolean that a string spells, if the node accepts no string
// and takes one of that type.
func (n *node) spelled(value []byte) (text string, ok bool) {
	if len(value) < 2 || value[0] != '"' || n.types&typeString != 0 {
		return "", false
	}
	text = strings.TrimSpace(string(strictjson.Unquote(value[1 : len(value)-1])))
	if n.types&typeBoolean != 0 && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")) {
		return strings.ToLower(text), true
	}
	if n.types&(typeInteger|typeNumber) == 0 || text == "" {
		return "", false
	}
	end, _, err := strictjson.Number([]byte(text), 0)
	return text, err == nil && end == len(text)
}
