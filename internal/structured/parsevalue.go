package structured

import (
	"encoding/base64"
	"errors"
	"strings"
)

// value reads a bare item (RFC 9651, section 4.2.3.1).
func (r *reader) value() (Value, error) {
	if r.end() {
		return Value{}, errEnd
	}
	switch c := r.text[r.at]; {
	case c == '"':
		return r.string()
	case c == ':':
		return r.bytes()
	case c == '?':
		return r.boolean()
	case c == '-' || digit(c):
		return r.number()
	case c == '@':
		r.at++
		date, err := r.number()
		if err == nil && date.Kind != Integer {
			err = errNumber
		}
		date.Kind = Date
		return date, err
	case c == '%':
		return Value{}, errors.New("holds a display string")
	case c == '*' || letter(c):
		return r.token(), nil
	}
	return Value{}, r.unexpected()
}

// string reads a String. One without escapes is a part of the text.
func (r *reader) string() (Value, error) {
	r.at++
	start := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return Text(r.text[start : r.at-1]), nil
		case c == '\\':
			return r.escaped(start)
		case c < ' ' || c > '~':
			return Value{}, r.unexpected()
		}
	}
	return Value{}, errEnd
}

// escaped reads a String on from its first escape.
func (r *reader) escaped(start int) (Value, error) {
	var text strings.Builder
	text.WriteString(r.text[start:r.at])
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '"':
			r.at++
			return Text(text.String()), nil
		case c < ' ' || c > '~':
			return Value{}, r.unexpected()
		case c == '\\':
			r.at++
			if r.end() {
				return Value{}, errEnd
			}
			if c = r.text[r.at]; c != '"' && c != '\\' {
				return Value{}, r.unexpected()
			}
		}
		text.WriteByte(c)
	}
	return Value{}, errEnd
}

func (r *reader) bytes() (Value, error) {
	r.at++
	length := strings.IndexByte(r.text[r.at:], ':')
	if length < 0 {
		return Value{}, errEnd
	}
	text := r.text[r.at : r.at+length]
	if strings.ContainsAny(text, "\r\n") { // which the decoder goes over
		return Value{}, r.unexpected()
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Value{}, errors.New("holds bytes that are not in base64")
	}
	r.at += length + 1
	return Binary(decoded), nil
}

func (r *reader) boolean() (Value, error) {
	r.at++
	switch {
	case r.next('1'):
		return True(), nil
	case r.next('0'):
		return Value{Kind: Boolean}, nil
	}
	return Value{}, r.unexpected()
}

// What a number may have (RFC 9651, sections 3.3.1 and 3.3.2).
const (
	integerDigits  = 15
	wholeDigits    = 12
	fractionDigits = 3
)

var errNumber = errors.New("holds a number of another form, or one with too many digits")

func (r *reader) number() (Value, error) {
	sign := int64(1)
	if r.next('-') {
		sign = -1
	}
	whole, digits := r.digits()
	if digits == 0 || digits > integerDigits {
		return Value{}, errNumber
	}
	if !r.next('.') {
		return Number(sign * whole), nil
	}
	fraction, places := r.digits()
	if digits > wholeDigits || places == 0 || places > fractionDigits {
		return Value{}, errNumber
	}
	for ; places < fractionDigits; places++ {
		fraction *= 10
	}
	return Value{Kind: Decimal, Number: sign * (whole*1000 + fraction)}, nil
}

// digits reads digits, and returns what they say and how many they are: no more
// than one too many.
func (r *reader) digits() (number int64, count int) {
	for count <= integerDigits && r.at < len(r.text) && digit(r.text[r.at]) {
		number = number*10 + int64(r.text[r.at]-'0')
		r.at++
		count++
	}
	return number, count
}

func (r *reader) token() Value {
	start := r.at
	for r.at++; r.at < len(r.text) && tokenByte(r.text[r.at]); r.at++ {
	}
	return Value{Kind: Token, Text: r.text[start:r.at]}
}

func tokenByte(c byte) bool {
	return letter(c) || digit(c) || strings.IndexByte("!#$%&'*+-.^_`|~:/", c) >= 0
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
