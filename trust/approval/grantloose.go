package approval

import (
	"encoding/json"
	"maps"
	"regexp/syntax"
	"slices"

	"github.com/ambit-dev/ambit"
)

// loose are the members to which the schema of a grant does not hold calls, or not
// as strictly as it seems to at first sight.
type loose struct {
	free, optional, partial []string
}

// looseOf finds them in a schema that grantInput has accepted.
func looseOf(input json.RawMessage, of ambit.AnyContract) (l loose) {
	var tree any
	if json.Unmarshal(input, &tree) == nil {
		l.look("", tree, inputOf(of))
	}
	return l
}

// look goes through what a schema says about one place.
func (l *loose) look(at string, said any, of place) {
	s, ok := said.(map[string]any)
	_, constant := s["const"]
	if !ok || constant || s["enum"] != nil { // nothing is said, or everything
		return
	}
	if pattern, ok := s["pattern"].(string); ok && !whole(pattern) {
		l.partial = append(l.partial, nameOf(at))
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	others, closed := s["additionalProperties"], s["additionalProperties"] == false
	names := of.members()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		there := at + "/" + name
		member, named := properties[name]
		switch {
		case !named && closed, member == false:
			continue
		case !holds(member):
			l.free = append(l.free, nameOf(there))
			continue
		case !slices.Contains(required, any(name)) && !of.has(name):
			l.optional = append(l.optional, nameOf(there))
		}
		l.look(there, member, of.member(name))
	}
	if isObject := s["type"] == "object" || slices.Contains(of.types(), "object"); isObject && of.undescribed() && !closed {
		if !holds(others) {
			l.free = append(l.free, nameOf(at+"/*"))
		}
		l.look(at+"/*", others, of.others())
	}
	if isArray := s["type"] == "array" || slices.Contains(of.types(), "array"); isArray && !holds(s["items"]) {
		l.free = append(l.free, nameOf(at+"/*"))
	}
	l.look(at+"/*", s["items"], of.elements())
}

// holds reports whether a schema says more of a value than its type.
func holds(said any) bool {
	s, ok := said.(map[string]any)
	if !ok {
		return said == false
	}
	for word := range s {
		if word != "type" && !remarks(word) {
			return true
		}
	}
	return false
}

// nameOf is how a member is called to people.
func nameOf(at string) string { return at[min(1, len(at)):] }

// whole reports whether a pattern says what the whole text is, and not a part of it.
func whole(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && anchored(re, syntax.OpBeginText, 0) && anchored(re, syntax.OpEndText, -1)
}

// anchored reports whether all that an expression matches has an anchor at one end: at
// the first of its parts (0) or the last (-1).
func anchored(re *syntax.Regexp, anchor syntax.Op, end int) bool {
	switch re.Op {
	case anchor:
		return true
	case syntax.OpCapture:
		return anchored(re.Sub[0], anchor, end)
	case syntax.OpConcat:
		return len(re.Sub) > 0 && anchored(re.Sub[(end+len(re.Sub))%len(re.Sub)], anchor, end)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !anchored(sub, anchor, end) })
	}
	return false
}
