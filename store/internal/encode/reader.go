package encode

import (
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// reader reads a JSON text that this package has written, from its beginning to its
// end: a list reads a thousand of them, which takes three times as long by reflection.
// After a fault everything is empty and end returns it.
type reader struct {
	text []byte
	at   int
	err  error
}

var errForm = errors.New("it is not as it was written")

// object reads an object. Member reads the value of the member of a name, and reports
// whether there is one of that name.
func (r *reader) object(member func(name []byte) bool) {
	r.sequence('{', '}', func() {
		name := r.raw()
		if r.err == nil {
			r.at, r.err = strictjson.Colon(r.text, r.at)
		}
		if r.err == nil && !member(name) {
			r.err = errForm
		}
	})
}

// sequence reads what stands between two brackets, separated by commas.
func (r *reader) sequence(opening, closing byte, one func()) {
	if r.err != nil {
		return
	}
	if r.at >= len(r.text) || r.text[r.at] != opening {
		r.err = errForm
		return
	}
	r.at = strictjson.Space(r.text, r.at+1)
	if r.at < len(r.text) && r.text[r.at] == closing {
		r.at++
		return
	}
	for more := true; more && r.err == nil; {
		if one(); r.err == nil {
			r.at, more, r.err = strictjson.Next(r.text, r.at, closing)
		}
	}
}

// raw reads a string, which is part of the text where it can be.
func (r *reader) raw() []byte {
	if r.err != nil {
		return nil
	}
	from := r.at + 1
	end, escaped, err := strictjson.String(r.text, r.at)
	if r.at, r.err = end, err; err != nil {
		return nil
	}
	if escaped {
		return strictjson.Unquote(r.text[from : end-1])
	}
	return r.text[from : end-1]
}

func (r *reader) string() string { return string(r.raw()) }

func (r *reader) bytes() []byte {
	raw := r.raw()
	if r.err != nil {
		return nil
	}
	var data []byte
	data, r.err = base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(raw))), raw)
	return data
}

func (r *reader) digest() (d ambit.Digest) {
	raw := r.raw()
	if r.err != nil {
		return d
	}
	var data [len(d) + 1]byte // room for what is as long as a digest is written and is none
	if len(raw) != base64.StdEncoding.EncodedLen(len(d)) {
		r.err = errForm
	} else if n, err := base64.StdEncoding.Decode(data[:], raw); err != nil || n != len(d) {
		r.err = errForm
	}
	return ambit.Digest(data[:len(d)])
}

func (r *reader) strings() []string {
	list := []string{}
	r.sequence('[', ']', func() { list = append(list, r.string()) })
	return list
}

func (r *reader) number() []byte {
	if r.err != nil {
		return nil
	}
	from := r.at
	r.at, _, r.err = strictjson.Number(r.text, r.at)
	return r.text[from:r.at]
}

func (r *reader) int() (n int64) {
	if text := r.number(); r.err == nil {
		n, r.err = strconv.ParseInt(string(text), 10, 64)
	}
	return n
}

func (r *reader) uint(bits int) (n uint64) {
	if text := r.number(); r.err == nil {
		n, r.err = strconv.ParseUint(string(text), 10, bits)
	}
	return n
}

func (r *reader) uint8() uint8 { return uint8(r.uint(8)) }

func (r *reader) bool() bool {
	if r.err != nil {
		return false
	}
	from := r.at
	r.at, r.err = strictjson.Literal(r.text, r.at)
	word := string(r.text[from:r.at])
	if r.err == nil && word == "null" {
		r.err = errForm
	}
	return word == "true"
}

func (r *reader) time() (t time.Time) {
	if text := r.raw(); r.err == nil {
		r.err = t.UnmarshalText(text)
	}
	return t
}

// end returns what was wrong, or that there is more.
func (r *reader) end() error {
	if r.err == nil {
		r.err = strictjson.End(r.text, r.at)
	}
	return r.err
}
