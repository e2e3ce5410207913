package schema

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// textForm writes a Go value that is a string in JSON.
func (w *writer) textForm(n *node, at *path, v reflect.Value) {
	switch n.bind {
	case bindTime:
		w.time(at, timeOf(v))
		return
	case bindDuration:
		if w.write {
			w.buf = strictjson.AppendString(w.buf, time.Duration(v.Int()).String())
		}
		return
	case bindBytes:
		w.bytes(n, at, v)
		return
	}
	text, ok := textOf(v)
	if !ok {
		w.add(at, "format", "has no text form", nil)
		return
	}
	w.string(n, at, string(text))
}

// timeOf returns the time in v, without a copy on the heap where v is addressable.
func timeOf(v reflect.Value) time.Time {
	if v.CanAddr() {
		return *v.Addr().Interface().(*time.Time)
	}
	return v.Interface().(time.Time)
}

// time writes a time as RFC 3339 has it, which ends with the year 9999 and knows offsets in
// whole minutes below a day.
func (w *writer) time(at *path, t time.Time) {
	offset := 0
	if t.Location() != time.UTC {
		_, offset = t.Zone()
	}
	const first, last = -62_167_219_200, 253_402_300_799 // seconds of the years 0 to 9999
	if s := t.Unix() + int64(offset); s < first || s > last || offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600 {
		w.add(at, "format", "must be a time that RFC 3339 can express", nil)
		return
	}
	if w.write {
		w.buf = append(t.AppendFormat(append(w.buf, '"'), time.RFC3339Nano), '"')
	}
}

func (w *writer) bytes(n *node, at *path, v reflect.Value) {
	data := v.Bytes()
	if n.str != nil {
		size := base64.StdEncoding.EncodedLen(len(data))
		if size < n.str.min || n.str.max >= 0 && size > n.str.max {
			checkString(&w.report, n.str, at, base64.StdEncoding.EncodeToString(data))
		}
	}
	if w.write {
		w.buf = append(base64.StdEncoding.AppendEncode(append(w.buf, '"'), data), '"')
	}
}

// textOf calls the MarshalText method of the value.
func textOf(v reflect.Value) (text []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	m, is := addressed(v).(encoding.TextMarshaler)
	if !is {
		return nil, false
	}
	text, err := m.MarshalText()
	return text, err == nil
}

// jsonOf calls the MarshalJSON method of the value.
func jsonOf(v reflect.Value) (text []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	m, is := addressed(v).(json.Marshaler)
	if !is {
		return nil, false
	}
	text, err := m.MarshalJSON()
	return text, err == nil
}

// addressed returns a pointer to v, or to a copy of it: the methods may be of the pointer.
func addressed(v reflect.Value) any {
	if !v.CanAddr() {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		v = copied
	}
	return v.Addr().Interface()
}

// foreign writes a value whose shape the tree does not fix.
func (w *writer) foreign(n *node, at *path, v reflect.Value) {
	var text []byte
	ok := true
	switch n.bind {
	case bindRaw:
		if text = v.Bytes(); len(text) == 0 {
			text = []byte("null")
		}
	case bindAny:
		text, ok = anyText(v)
	default:
		text, ok = jsonOf(v)
	}
	if !ok {
		w.add(at, "type", "has no JSON form", nil)
		return
	}
	w.raw(text, n, at)
}

// anyText returns the JSON form of what an empty interface holds.
func anyText(v reflect.Value) (text []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // a method of the value panicked
		}
	}()
	if v.IsNil() {
		return []byte("null"), true
	}
	text, err := strictjson.Marshal(nil, v.Interface())
	return text, err == nil
}

// raw checks JSON text by n as if it had been sent, and writes it. The unmarshaling methods of
// a type have no say about what its marshaling ones wrote.
func (w *writer) raw(text []byte, n *node, at *path) {
	sc := newScanner(text, DefaultDepth-w.depth)
	if w.depth == DefaultDepth {
		sc.depth = 0
	}
	sc.report = w.report
	sc.data = text
	before := len(w.faults)
	sc.pos = strictjson.Space(text, 0)
	var ok bool
	switch {
	case n.bind == bindMethods && n.described == nil:
		ok = sc.free(at, false)
	case n.bind == bindMethods:
		ok = sc.value(n.described, at, reflect.Value{})
	default:
		ok = sc.value(n, at, reflect.Value{})
	}
	if ok {
		if err := strictjson.End(text, sc.pos); err != nil {
			sc.fail(at, err)
		}
	}
	w.report = sc.report
	w.data = nil
	if len(w.faults) == before && w.write {
		w.buf = strictjson.Compact(w.buf, text)
	}
}
