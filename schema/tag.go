package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ownTags are the tags that this package reads.
var ownTags = []string{
	"json", "doc", "title", "default", "enum", "example", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems",
	"maxItems", "uniqueItems", "nullable", "required", "secret",
}

// otherWords are tags that say in other libraries what one of ours says here. To read past
// them would drop a rule in silence.
var otherWords = map[string]string{
	"description": "doc", "desc": "doc", "examples": "example", "min": "minimum", "max": "maximum",
	"minlen": "minLength", "maxlen": "maxLength", "regex": "pattern", "regexp": "pattern", "enums": "enum",
	"jsonschema": "doc", "readOnly": "doc", "writeOnly": "secret", "optional": "required",
}

// foreignTags belong to others although they resemble ours.
var foreignTags = []string{"form", "bson", "jsonb"}

// tags are the tags of one field that this package reads. They are few.
type tags []tag

type tag struct{ name, text string }

// get returns the text of a tag, and whether it is there.
func (t tags) get(name string) (text string, tagged bool) {
	for i := range t {
		if t[i].name == name {
			return t[i].text, true
		}
	}
	return "", false
}

// text returns the text of a tag, "" where it is not there.
func (t tags) text(name string) string {
	text, _ := t.get(name)
	return text
}

// take is get, and removes the tag.
func (t *tags) take(name string) (text string, tagged bool) {
	text, tagged = t.get(name)
	if tagged {
		*t = slices.DeleteFunc(*t, func(known tag) bool { return known.name == name })
	}
	return text, tagged
}

// parseTags takes a struct tag apart. A key that is nearly one of ours is an error, since what
// it asks for would not be done; others are none of our business.
func parseTags(all reflect.StructTag) (tags, error) {
	found := make(tags, 0, strings.Count(string(all), `:"`))
	for rest := strings.TrimLeft(string(all), " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, quoted, ok := strings.Cut(rest, ":")
		if !ok || key == "" || strings.ContainsAny(key, " \"") {
			return nil, fmt.Errorf("the tag is malformed near %q; write key:\"value\" pairs with spaces between", cut(rest, echoLimit))
		}
		prefix, err := strconv.QuotedPrefix(quoted)
		if err != nil {
			return nil, fmt.Errorf("tag %s: the value must be in quotation marks", key)
		}
		value, err := strconv.Unquote(prefix)
		if err != nil || prefix[0] != '"' {
			return nil, fmt.Errorf("tag %s: the value must be in quotation marks", key)
		}
		rest = quoted[len(prefix):]
		if !slices.Contains(ownTags, key) {
			if near := nearTag(key); near != "" {
				return nil, fmt.Errorf("tag %s: is not known; did you mean %s?", key, near)
			}
			continue
		}
		if found.any(key) {
			return nil, fmt.Errorf("tag %s: is given twice; remove one", key)
		}
		found = append(found, tag{key, value})
	}
	return found, nil
}

// nearTag returns the tag of ours that a key is likely meant to be, or "". Case, hyphens and
// underscores make no difference, and one slip is allowed in four letters, two from six on.
func nearTag(key string) string {
	if slices.Contains(foreignTags, key) {
		return ""
	}
	if own, ok := otherWords[key]; ok {
		return own
	}
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
	for _, own := range ownTags {
		if plain == strings.ToLower(own) {
			return own
		}
	}
	for _, own := range ownTags {
		lower := strings.ToLower(own)
		slips := 0
		switch {
		case len(lower) >= 6:
			slips = 2
		case len(lower) >= 4:
			slips = 1
		}
		if distance([]byte(plain), lower, slips+1) <= slips {
			return own
		}
	}
	return ""
}

// ours reports whether any tag but json is there.
func (t tags) ours() bool { return len(t) > 0 }

// flag reads a tag that is true or false.
func (t tags) flag(name string) (bool, error) {
	switch text, tagged := t.get(name); {
	case !tagged || text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, fmt.Errorf("tag %s: must be \"true\" or \"false\"", name)
}

// count reads a tag that is a number of things.
func (t tags) count(name string, unset int) (int, error) {
	text, tagged := t.get(name)
	if !tagged {
		return unset, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("tag %s: must be a whole number from 0 to 2147483647", name)
	}
	return int(n), nil
}

// constrain adds to a node what the tags demand. Tags for strings and numbers on a slice, an
// array or a map speak of its elements.
func (n *node) constrain(t tags) error {
	if err := n.constrainItems(t); err != nil {
		return err
	}
	if !t.any(stringTags...) && !t.any(numberTags...) && !t.any("enum") {
		return nil
	}
	leaf, err := n.ownLeaf()
	if err != nil {
		return err
	}
	if err := leaf.constrainString(t); err != nil {
		return err
	}
	if err := leaf.constrainNumber(t); err != nil {
		return err
	}
	return leaf.constrainEnum(t)
}

var (
	itemTags   = []string{"minItems", "maxItems", "uniqueItems"}
	stringTags = []string{"minLength", "maxLength", "pattern", "format"}
	numberTags = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)

// first returns the first of the names that is tagged, or "".
func (t tags) first(names ...string) string {
	for _, name := range names {
		if _, tagged := t.get(name); tagged {
			return name
		}
	}
	return ""
}

func (t tags) any(names ...string) bool { return t.first(names...) != "" }

// ownLeaf returns the node of the innermost elements, after making it and all nodes on the way
// to it the property of this field.
func (n *node) ownLeaf() (*node, error) {
	for n.arr != nil || n.bind == bindMap {
		n.named = nil
		var items **node
		if n.arr != nil {
			rules := *n.arr
			n.arr, items = &rules, &rules.items
		} else {
			rules := *n.obj
			n.obj, items = &rules, &rules.extra
		}
		if *items == nil {
			return nil, errors.New("tags can't limit the elements of a type that contains itself; define a type for the elements")
		}
		copied := **items
		*items = &copied
		n = &copied
	}
	return n, nil
}

func (n *node) constrainItems(t tags) error {
	tag := t.first(itemTags...)
	if tag == "" {
		return nil
	}
	if n.arr == nil || n.bind == bindArray && tag != "uniqueItems" {
		return fmt.Errorf("tag %s: is for slices, not for %s", tag, typeWords(n.goType))
	}
	rules := *n.arr
	n.arr, n.named = &rules, nil
	var err error
	if rules.min, err = t.count("minItems", rules.min); err != nil {
		return err
	}
	if rules.max, err = t.count("maxItems", rules.max); err != nil {
		return err
	}
	if rules.max >= 0 && rules.min > rules.max {
		return errors.New("tag maxItems: is less than minItems; no value fits")
	}
	rules.unique, err = t.flag("uniqueItems")
	return err
}
