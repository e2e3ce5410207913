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
	dst, _ = keyAt(dst, value, 0)
	return dst
}

// keyAt appends the form of the value at data[i] and returns the position behind it. It goes
// over the text once, however deep that is.
func keyAt(dst, data []byte, i int) (out []byte, end int) {
	switch c := data[i]; {
	case c == '"':
		end, escaped, _ := strictjson.String(data, i)
		raw := data[i+1 : end-1]
		if escaped {
			raw = strictjson.Unquote(raw)
		}
		return strictjson.AppendString(dst, raw), end
	case c == '[':
		dst = append(dst, '[')
		more := true
		if i = strictjson.Space(data, i+1); data[i] == ']' {
			i, more = i+1, false
		}
		for more {
			dst, i = keyAt(dst, data, i)
			dst = append(dst, ',')
			i, more, _ = strictjson.Next(data, i, ']')
		}
		return append(dst, ']'), i
	case c == '{':
		return objectKeyAt(dst, data, i)
	case c == '-' || c-'0' <= 9:
		end, _, _ = strictjson.Number(data, i)
		d := parseDecimal(data[i:end])
		return d.appendKey(dst), end
	}
	end, _ = strictjson.Literal(data, i)
	return append(dst, data[i:end]...), end
}

func objectKeyAt(dst, data []byte, i int) (out []byte, end int) {
	type member struct {
		key        []byte
		start, end int // of its form
	}
	var all []member
	begin, more := len(dst), true
	if i = strictjson.Space(data, i+1); data[i] == '}' {
		i, more = i+1, false
	}
	for more {
		after, escaped, _ := strictjson.String(data, i)
		m := member{key: data[i+1 : after-1], start: len(dst)}
		if escaped {
			m.key = strictjson.Unquote(m.key)
		}
		i, _ = strictjson.Colon(data, after)
		dst = append(strictjson.AppendString(dst, m.key), ':')
		dst, i = keyAt(dst, data, i)
		dst = append(dst, ',')
		m.end = len(dst)
		all = append(all, m)
		i, more, _ = strictjson.Next(data, i, '}')
	}
	slices.SortFunc(all, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	unsorted := bytes.Clone(dst[begin:])
	dst = append(dst[:begin], '{')
	for _, m := range all {
		dst = append(dst, unsorted[m.start-begin:m.end-begin]...)
	}
	return append(dst, '}'), i
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
