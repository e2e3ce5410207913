package messagesig

import (
	"strconv"

	"github.com/dunglas/httpsfv"
)

// appendList appends an inner list of strings as it is written (RFC 9651,
// section 4.1.1.1): what [httpsfv.Marshal] returns, without the pieces of which
// that is made.
func appendList(dst []byte, list httpsfv.InnerList) ([]byte, error) {
	dst = append(dst, '(')
	for i, item := range list.Items {
		if i > 0 {
			dst = append(dst, ' ')
		}
		var err error
		if dst, err = appendItem(dst, item); err != nil {
			return nil, err
		}
	}
	return appendParams(append(dst, ')'), list.Params)
}

// appendItem appends an item with its parameters.
func appendItem(dst []byte, item httpsfv.Item) ([]byte, error) {
	dst, err := appendValue(dst, item.Value)
	if err != nil {
		return nil, err
	}
	return appendParams(dst, item.Params)
}

func appendParams(dst []byte, params *httpsfv.Params) ([]byte, error) {
	for _, name := range params.Names() {
		value, _ := params.Get(name)
		dst = append(append(dst, ';'), name...)
		if value == true {
			continue
		}
		var err error
		if dst, err = appendValue(append(dst, '='), value); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// appendValue appends strings and integers, of which signatures are made, and
// leaves all others to httpsfv.
func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		if plain(v) {
			dst = append(append(dst, '"'), v...)
			return append(dst, '"'), nil
		}
	case int64:
		if v >= 0 && v <= maxInteger {
			return strconv.AppendInt(dst, v, 10), nil
		}
	}
	text, err := httpsfv.Marshal(httpsfv.NewItem(value))
	return append(dst, text...), err
}

// maxInteger is the largest integer of a structured field (RFC 9651, section
// 3.3.1).
const maxInteger = 999_999_999_999_999

// plain reports whether a text is written as it is, between quotes.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
