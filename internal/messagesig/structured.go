package messagesig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Dictionary parses the lines of a dictionary field (RFC 9651, section 3.2) of
// at most [MaxBytes] and [MaxSignatures] members. Unlike the structured fields
// at large, which keep the last of two equal keys, it refuses a member or a
// parameter that comes twice: what a signature covers must not depend on who
// reads it.
func Dictionary(lines []string) (*httpsfv.Dictionary, error) {
	found, err := measure(lines)
	if err != nil {
		return nil, err
	}
	parsed, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, err
	}
	params := 0
	for _, name := range parsed.Names() {
		member, _ := parsed.Get(name)
		params += paramsOf(member)
	}
	if len(parsed.Names()) != found.members || params != found.params {
		return nil, errors.New("a member or a parameter comes twice")
	}
	return parsed, nil
}

func paramsOf(member httpsfv.Member) int {
	switch m := member.(type) {
	case httpsfv.Item:
		return len(m.Params.Names())
	case httpsfv.InnerList:
		n := len(m.Params.Names())
		for _, item := range m.Items {
			n += len(item.Params.Names())
		}
		return n
	}
	return 0
}

// String parses the lines of a field that is a string, without parameters.
func String(lines []string) (string, error) {
	if len(lines) != 1 || !strings.HasPrefix(strings.TrimLeft(lines[0], " "), `"`) {
		return "", errNoString
	}
	if _, err := measure(lines); err != nil {
		return "", err
	}
	item, err := httpsfv.UnmarshalItem(lines)
	if err != nil {
		return "", err
	}
	text, ok := item.Value.(string)
	if !ok || len(item.Params.Names()) > 0 {
		return "", errNoString
	}
	return text, nil
}

var errNoString = errors.New("is not a string without parameters")

// TextMember returns a member of a dictionary that is a string, and the token of
// its one parameter that it may have, "" for none. It is false where the member
// is not there, is no string, or has any other parameter.
func TextMember(fields *httpsfv.Dictionary, name, param string) (text, token string, ok bool) {
	member, _ := fields.Get(name)
	item, _ := member.(httpsfv.Item)
	if text, ok = item.Value.(string); !ok {
		return "", "", false
	}
	if value, found := item.Params.Get(param); found {
		if t, isToken := value.(httpsfv.Token); isToken {
			token = string(t)
		}
	}
	if n := len(item.Params.Names()); n > 1 || n == 1 && token == "" {
		return "", "", false
	}
	return text, token, true
}

// measured is what there is in a field.
type measured struct{ members, params int }

// measure counts what a field holds, outside of strings, and refuses what would
// take long to parse. Of a field that is not well-formed it counts something,
// which the parser's error makes void.
func measure(lines []string) (measured, error) {
	size := 0
	for _, line := range lines {
		size += len(line) + 2
	}
	if size > MaxBytes {
		return measured{}, fmt.Errorf("has more than %d bytes", MaxBytes)
	}
	m, spaces := measured{}, 0
	for _, line := range lines {
		if strings.Trim(line, " \t") != "" {
			m.members++ // a line ends as a comma does
		}
		quoted, before := false, byte(0)
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case quoted && c == '\\':
				i++
			case quoted:
				quoted = c != '"'
			case c == '"' && before == '%':
				return measured{}, errors.New("holds a display string")
			case c == '"':
				quoted = true
			case c == ',':
				m.members++
			case c == ';':
				m.params++
			case c == ' ' || c == '\t':
				spaces++
			}
			before = c
		}
		if quoted {
			return measured{}, errors.New("holds a string that does not end in its line")
		}
	}
	if m.members > MaxSignatures || m.params > maxParams || spaces > maxItems {
		return measured{}, errors.New("has too many parts")
	}
	return m, nil
}
