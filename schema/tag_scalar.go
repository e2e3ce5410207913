package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// constrainString adds the rules that tags give for a string.
func (n *node) constrainString(t tags) error {
	tag := t.first(stringTags...)
	if tag == "" {
		return nil
	}
	switch n.bind {
	case bindString, bindText:
	case bindBytes:
		if other := t.first("pattern", "format"); other != "" {
			return fmt.Errorf("tag %s: the text of a %s is base64; limit its length instead", other, n.goType)
		}
	default:
		return fmt.Errorf("tag %s: is for strings, not for %s", tag, typeWords(n.goType))
	}
	rules := stringRules{max: -1}
	var err error
	if rules.min, err = t.count("minLength", 0); err != nil {
		return err
	}
	if rules.max, err = t.count("maxLength", -1); err != nil {
		return err
	}
	if rules.max >= 0 && rules.min > rules.max {
		return errors.New("tag maxLength: is less than minLength; no value fits")
	}
	if text, tagged := t.get("pattern"); tagged {
		if rules.pattern, err = regexp.Compile(text); err != nil {
			return fmt.Errorf("tag pattern: %w; patterns are RE2", err)
		}
	}
	if name, tagged := t.get("format"); tagged {
		if rules.format = formatNamed(name); rules.format == formatNone {
			return fmt.Errorf("tag format: %q is not known; known are %s", name, strings.Join(formatNames(), ", "))
		}
	}
	n.str = &rules
	return nil
}

// constrainNumber adds the rules that tags give for a number.
func (n *node) constrainNumber(t tags) error {
	tag := t.first(numberTags...)
	if tag == "" {
		return nil
	}
	if n.bind != bindInt && n.bind != bindUint && n.bind != bindFloat {
		return fmt.Errorf("tag %s: is for numbers, not for %s", tag, typeWords(n.goType))
	}
	rules := numberRules{}
	if n.num != nil {
		rules = *n.num
	}
	for _, rule := range rules.limits() {
		text, tagged := t.get(rule.name)
		if !tagged {
			continue
		}
		limit, err := tagLimit(text, rule.name)
		switch {
		case err != nil:
			return fmt.Errorf("tag %s: %w", rule.name, err)
		case n.bind != bindFloat && !limit.value().integral():
			return fmt.Errorf("tag %s: %s is not a whole number, as %s demands", rule.name, text, n.goType)
		case (*rule.to) != nil && rule.tightens(limit, *rule.to) < 0:
			return fmt.Errorf("tag %s: %s is outside of what %s holds", rule.name, text, n.goType)
		}
		*rule.to = limit
		rules.kind = false
	}
	if err := rules.consistent(); err != nil {
		return err
	}
	rules.seal()
	n.num = &rules
	return nil
}

// numberRule is one of the rules for numbers.
type numberRule struct {
	name string
	to   **limit
}

// limits lists the rules for numbers.
func (r *numberRules) limits() []numberRule {
	return []numberRule{
		{"minimum", &r.minimum},
		{"exclusiveMinimum", &r.exclusiveMinimum},
		{"maximum", &r.maximum},
		{"exclusiveMaximum", &r.exclusiveMaximum},
		{"multipleOf", &r.multipleOf},
	}
}

// tightens returns -1 if next allows more than limit does.
func (r numberRule) tightens(next, limit *limit) int {
	switch r.name {
	case "minimum":
		return next.value().compare(limit.value())
	case "maximum":
		return limit.value().compare(next.value())
	}
	return 0
}

// tagLimit reads a number in a tag.
func tagLimit(text, rule string) (*limit, error) {
	end, _, err := strictjson.Number([]byte(text), 0)
	if err != nil || end != len(text) {
		return nil, fmt.Errorf("%q is not a JSON number", cut(text, echoLimit))
	}
	l := newLimit([]byte(text))
	if rule == "multipleOf" {
		return l, checkStep(l)
	}
	return l, nil
}

// checkStep reports a multipleOf that the checker can't use.
func checkStep(l *limit) error {
	switch value := l.value(); {
	case value.negative || value.len() == 0:
		return errors.New("must be greater than 0")
	case value.len() > 18:
		return errors.New("must have at most 18 digits")
	}
	return nil
}

// consistent reports limits that no number keeps.
func (r *numberRules) consistent() error {
	if r.minimum != nil && r.maximum != nil && r.minimum.value().compare(r.maximum.value()) > 0 {
		return errors.New("tag maximum: is less than minimum; no value fits")
	}
	if r.exclusiveMinimum != nil && r.exclusiveMaximum != nil &&
		r.exclusiveMinimum.value().compare(r.exclusiveMaximum.value()) >= 0 {
		return errors.New("tag exclusiveMaximum: is not above exclusiveMinimum; no value fits")
	}
	return nil
}

// constrainEnum adds the values that a tag lists, separated by commas.
func (n *node) constrainEnum(t tags) error {
	text, tagged := t.get("enum")
	if !tagged {
		return nil
	}
	switch n.bind {
	case bindString, bindText, bindInt, bindUint, bindFloat:
	default:
		return fmt.Errorf("tag enum: is for strings and numbers, not for %s", typeWords(n.goType))
	}
	if n.enum != nil {
		return fmt.Errorf("tag enum: the Enum method of %s lists the values already; remove one of them", n.goType)
	}
	var values [][]byte
	for item := range strings.SplitSeq(text, ",") {
		value := strictjson.Compact(nil, []byte(item))
		if n.types == typeString {
			value = strictjson.AppendString(nil, item)
		}
		switch {
		case len(value) == 0:
			return errors.New("tag enum: one of the values is empty")
		case strings.TrimSpace(item) != item:
			return fmt.Errorf("tag enum: a blank stands beside a comma or at an end of %q; leave it out, or list the values in a method Enum", cut(text, echoLimit))
		}
		if _, faults := filledValue(n, value); faults != nil {
			return fmt.Errorf("tag enum: %q does not fit: %s", item, faults[0].Message)
		}
		if slices.ContainsFunc(values, func(v []byte) bool { return string(v) == string(value) }) {
			return fmt.Errorf("tag enum: lists %q twice", item)
		}
		values = append(values, value)
	}
	n.enum = newEnum(false, values)
	return nil
}
