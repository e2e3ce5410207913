package schema

import (
	"bytes"
	"slices"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// appendKey appends to dst a form of a valid JSON text that is the same for all texts that
// JSON Schema calls equal: the order of members, the spelling of strings and numbers, and white
// space make no difference (JSON Schema core, section 4.2.2).
func appendKey(dst, value []byte) []byte {
	switch c := value[0]; {
	case c == '"':
		raw := value[1 : len(value)-1]
		if bytes.IndexByte(raw, '\\') >= 0 {
			raw = strictjson.Unquote(raw)
		}
		return strictjson.AppendString(dst, raw)
	case c == '[':
		dst = append(dst, '[')
		for elements := strictjson.Elements(value, strictjson.MaxDepth); elements.Next(); {
			dst = append(appendKey(dst, elements.Value()), ',')
		}
		return append(dst, ']')
	case c == '{':
		return appendObjectKey(dst, value)
	case c == '-' || c-'0' <= 9:
		d := parseDecimal(value)
		return d.appendKey(dst)
	}
	return append(dst, value...)
}

func appendObjectKey(dst, value []byte) []byte {
	type member struct{ key, value []byte }
	var all []member
	for members := strictjson.Members(value, strictjson.MaxDepth); members.Next(); {
		all = append(all, member{members.Key(), members.Value()})
	}
	slices.SortFunc(all, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for _, m := range all {
		dst = append(strictjson.AppendString(dst, m.key), ':')
		dst = append(appendKey(dst, m.value), ',')
	}
	return append(dst, '}')
}

// fewItems is how many elements of a uniqueItems array are compared one by one.
const fewItems = 32

// distinct collects the elements of one array and finds a repeated one.
type distinct struct {
	keys  []byte // all keys, one after the other
	ends  []int
	index map[string]struct{}
}

// add remembers a valid JSON text and reports whether it is new.
func (d *distinct) add(value []byte) bool {
	start := len(d.keys)
	d.keys = appendKey(d.keys, value)
	key := d.keys[start:]
	if d.index == nil {
		begin := 0
		for _, end := range d.ends {
			if bytes.Equal(d.keys[begin:end], key) {
				return false
			}
			begin = end
		}
		d.ends = append(d.ends, len(d.keys))
		if len(d.ends) == fewItems {
			d.index = make(map[string]struct{}, 4*fewItems)
			begin = 0
			for _, end := range d.ends {
				d.index[string(d.keys[begin:end])] = struct{}{}
				begin = end
			}
		}
		return true
	}
	if _, known := d.index[string(key)]; known {
		return false
	}
	d.index[string(key)] = struct{}{}
	d.keys = d.keys[:start]
	return true
}
