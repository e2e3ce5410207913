package structured

import (
	"encoding/base64"
	"errors"
	"strconv"
)

// What cannot be written is an error.
var (
	errKey   = errors.New("a name cannot stand in a structured field")
	errText  = errors.New("a text cannot stand in a structured field: it has characters other than those of ASCII that are shown")
	errRange = errors.New("a number has too many digits for a structured field")
)

// AppendMember appends a member of a dictionary with its name.
func AppendMember(dst []byte, m Member) ([]byte, error) {
	dst, err := appendKey(dst, m.Name)
	switch {
	case err != nil:
		return nil, err
	case m.Value.isTrue():
		return appendParams(dst, m.Params)
	}
	return m.Append(append(dst, '='))
}

// Append appends the value of a member.
func (m Member) Append(dst []byte) ([]byte, error) {
	if m.Value.Kind != InnerList {
		return m.Item.Append(dst)
	}
	dst = append(dst, '(')
	for i, item := range m.Items {
		if i > 0 {
			dst = append(dst, ' ')
		}
		var err error
		if dst, err = item.Append(dst); err != nil {
			return nil, err
		}
	}
	return appendParams(append(dst, ')'), m.Params)
}

// Append appends an item.
func (i Item) Append(dst []byte) ([]byte, error) {
	dst, err := i.Value.append(dst)
	if err != nil {
		return nil, err
	}
	return appendParams(dst, i.Params)
}

func appendParams(dst []byte, params Params) (_ []byte, err error) {
	for _, p := range params {
		if dst, err = appendKey(append(dst, ';'), p.Name); err != nil {
			return nil, err
		}
		if p.Value.isTrue() {
			continue
		}
		if dst, err = p.Value.append(append(dst, '=')); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendKey(dst []byte, name string) ([]byte, error) {
	for i := range len(name) {
		if !keyByte(name[i], i == 0) {
			return nil, errKey
		}
	}
	if name == "" {
		return nil, errKey
	}
	return append(dst, name...), nil
}

func (v Value) append(dst []byte) ([]byte, error) {
	switch v.Kind {
	case String:
		return appendString(dst, v.Text)
	case Token:
		return append(dst, v.Text...), nil
	case Bytes:
		dst = base64.StdEncoding.AppendEncode(append(dst, ':'), v.Bytes)
		return append(dst, ':'), nil
	case Integer:
		return appendInteger(dst, v.Number)
	case Date:
		return appendInteger(append(dst, '@'), v.Number)
	case Decimal:
		return appendDecimal(dst, v.Number), nil
	case Boolean:
		return append(dst, '?', '0'+byte(v.Number&1)), nil
	}
	return nil, errors.New("there is no value")
}

func appendString(dst []byte, text string) ([]byte, error) {
	dst = append(dst, '"')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' {
			return nil, errText
		}
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"'), nil
}

// maxInteger is the largest integer (RFC 9651, section 3.3.1).
const maxInteger = 999_999_999_999_999

func appendInteger(dst []byte, number int64) ([]byte, error) {
	if number < -maxInteger || number > maxInteger {
		return nil, errRange
	}
	return strconv.AppendInt(dst, number, 10), nil
}

// appendDecimal appends thousandths, without zeros at the end but for one.
func appendDecimal(dst []byte, thousandths int64) []byte {
	if thousandths < 0 {
		dst, thousandths = append(dst, '-'), -thousandths
	}
	dst = append(strconv.AppendInt(dst, thousandths/1000, 10), '.')
	fraction := thousandths % 1000
	for {
		dst = append(dst, '0'+byte(fraction/100))
		if fraction = fraction % 100 * 10; fraction == 0 {
			return dst
		}
	}
}
