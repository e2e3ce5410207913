package schema

import (
	"reflect"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// array reads an array.
func (s *scanner) array(n *node, at *path, dst reflect.Value) bool {
	if n.types&typeArray == 0 {
		return s.mistyped(n, at)
	}
	if s.depth == 0 {
		return s.tooDeep(at)
	}
	s.depth--
	start := s.pos
	rules := n.arr
	if rules == nil {
		rules = &arrayRules{max: -1}
	}
	count, ok := s.elements(rules, at, dst)
	if !ok {
		return false
	}
	s.depth++
	if count < rules.min || rules.max >= 0 && count > rules.max {
		s.checkLength(at, count, rules.min, rules.max, "minItems", "maxItems", "item")
	}
	return s.enumerated(n, at, start)
}

func (s *scanner) tooDeep(at *path) bool {
	return s.fail(at, &strictjson.Error{Kind: strictjson.Depth, Offset: s.pos, Problem: "the value is nested too deep"})
}

// elements reads the elements of an array, which begins at the current position.
func (s *scanner) elements(rules *arrayRules, at *path, dst reflect.Value) (count int, ok bool) {
	s.pos = strictjson.Space(s.data, s.pos+1)
	if s.pos < len(s.data) && s.data[s.pos] == ']' {
		s.pos++
		if dst.IsValid() && dst.Kind() == reflect.Slice {
			dst.Set(reflect.MakeSlice(dst.Type(), 0, 0))
		}
		return 0, true
	}
	var seen *distinct
	if rules.unique {
		seen = &distinct{}
	}
	here := path{up: at, step: stepElement, secret: at.secret}
	for ; ; count++ {
		here.index = count
		start := s.pos
		if !s.element(rules.items, &here, element(dst, count)) {
			return count, false
		}
		if seen != nil && !seen.add(s.data[start:s.pos]) {
			s.add(&here, "uniqueItems", "must differ from all items before it; leave out repeated items", nil)
		}
		if s.comma() {
			continue
		}
		next, more, err := strictjson.Next(s.data, s.pos, ']')
		if err != nil {
			return count, s.fail(&here, err)
		}
		s.pos = next
		if !more {
			return count + 1, true
		}
	}
}

// comma passes over a comma that has no white space around it, which is the common case.
func (s *scanner) comma() bool {
	if s.pos+1 < len(s.data) && s.data[s.pos] == ',' && s.data[s.pos+1] > ' ' {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) element(items *node, at *path, dst reflect.Value) bool {
	if items == nil {
		return s.free(at, false)
	}
	return s.value(items, at, dst)
}

// element returns the place of element i in dst, making room for it.
func element(dst reflect.Value, i int) reflect.Value {
	if !dst.IsValid() {
		return dst
	}
	if dst.Kind() == reflect.Array {
		if i >= dst.Len() {
			return reflect.Value{}
		}
		return dst.Index(i)
	}
	if i >= dst.Cap() {
		dst.Grow(max(4, i))
	}
	dst.SetLen(i + 1)
	return dst.Index(i)
}
