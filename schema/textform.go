package schema

import (
	"encoding"
	"encoding/base64"
	"math"
	"reflect"
	"time"
)

// bindFromText reads the text form of a Go value that is a string in JSON and, if dst is valid,
// sets it. It returns what the text must be, or "" if it is that.
func bindFromText(n *node, text []byte, dst reflect.Value) (message string) {
	switch n.bind {
	case bindTime:
		return timeFromText(text, dst)
	case bindDuration:
		d, ok := parseDuration(text)
		if !ok {
			return "must be a duration such as \"1h30m\", with the units h, m, s, ms, us and ns"
		}
		if dst.IsValid() {
			dst.SetInt(int64(d))
		}
	case bindBytes:
		return bytesFromText(text, dst)
	case bindText:
		if !dst.IsValid() {
			dst = reflect.New(n.goType).Elem()
		}
		if !textFrom(text, dst) {
			return "is not in the form that is expected here"
		}
	}
	return ""
}

func timeFromText(text []byte, dst reflect.Value) (message string) {
	const expected = "must be a time as in RFC 3339, such as \"2006-01-02T15:04:05Z\""
	var t time.Time
	if !dateTime(text, true) || t.UnmarshalText(text) != nil {
		return expected
	}
	if dst.IsValid() {
		*dst.Addr().Interface().(*time.Time) = t
	}
	return ""
}

// bytesFromText decodes base64 with padding, RFC 4648 section 4, and no line breaks.
func bytesFromText(text []byte, dst reflect.Value) (message string) {
	const expected = "must be base64 with padding (RFC 4648, section 4)"
	if !isBase64(text) {
		return expected
	}
	if dst.IsValid() {
		out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		n, err := base64.StdEncoding.Strict().Decode(out, text)
		if err != nil {
			return expected
		}
		dst.SetBytes(out[:n:n])
	}
	return ""
}

// isBase64 reports whether text is what a strict decoder accepts.
func isBase64(text []byte) bool {
	if len(text)%4 != 0 {
		return false
	}
	pad := 0
	for pad < 2 && pad < len(text) && text[len(text)-1-pad] == '=' {
		pad++
	}
	last := byte(0)
	for _, c := range text[:len(text)-pad] {
		switch {
		case c >= 'A' && c <= 'Z':
			last = c - 'A'
		case c >= 'a' && c <= 'z':
			last = c - 'a' + 26
		case c >= '0' && c <= '9':
			last = c - '0' + 52
		case c == '+':
			last = 62
		case c == '/':
			last = 63
		default:
			return false
		}
	}
	// The bits of the last character that belong to no byte must be zero.
	return pad == 0 || pad == 1 && last&3 == 0 || pad == 2 && last&15 == 0
}

// textFrom calls the UnmarshalText method of the value, which gets a copy of the text.
func textFrom(text []byte, dst reflect.Value) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // a method that panics on a text does not accept it
		}
	}()
	target, is := dst.Addr().Interface().(encoding.TextUnmarshaler)
	return is && target.UnmarshalText(append([]byte(nil), text...)) == nil
}

// durationPattern is the published form of what parseDuration accepts.
const durationPattern = `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

// durationUnits lists the units, each before those that it begins with.
var durationUnits = [...]string{"ns", "us", "µs", "ms", "s", "m", "h"}

// parseDuration reads what time.Duration's String method writes. Of what time.ParseDuration
// accepts it refuses the forms without digits before or after the point, the plus sign and the
// bare zero.
func parseDuration(text []byte) (time.Duration, bool) {
	rest := text
	if len(rest) > 0 && rest[0] == '-' {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return 0, false
	}
	for len(rest) > 0 {
		n := digitCount(rest)
		if n == 0 {
			return 0, false
		}
		rest = rest[n:]
		if len(rest) > 0 && rest[0] == '.' {
			if n = digitCount(rest[1:]); n == 0 {
				return 0, false
			}
			rest = rest[n+1:]
		}
		if n = unitLength(rest); n == 0 {
			return 0, false
		}
		rest = rest[n:]
	}
	d, err := time.ParseDuration(string(text))
	return d, err == nil && d != math.MinInt64
}

func digitCount(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return n
}

func unitLength(text []byte) int {
	for _, unit := range durationUnits {
		if len(text) >= len(unit) && string(text[:len(unit)]) == unit {
			return len(unit)
		}
	}
	return 0
}
