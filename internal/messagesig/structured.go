package messagesig

import (
	"errors"

	"github.com/ambit-dev/ambit/internal/structured"
)

// limits are those of every field that is read here.
func limits() structured.Limits {
	return structured.Limits{Bytes: MaxBytes, Members: MaxSignatures, Items: maxItems, Params: maxParams}
}

// Dictionary parses the lines of a dictionary field of at most [MaxBytes] and
// [MaxSignatures] members.
func Dictionary(lines []string) (structured.Dictionary, error) {
	return structured.ParseDictionary(lines, limits())
}

// String parses the lines of a field that is a string, without parameters.
func String(lines []string) (string, error) {
	item, err := structured.ParseItem(lines, limits())
	switch {
	case err != nil:
		return "", err
	case item.Value.Kind != structured.String || len(item.Params) > 0:
		return "", errNoString
	}
	return item.Value.Text, nil
}

var errNoString = errors.New("is not a string without parameters")

// TextMember returns a member of a dictionary that is a string, and the token of
// its one parameter that it may have, "" for none. It is false where the member
// is not there, is no string, or has any other parameter.
func TextMember(fields structured.Dictionary, name, param string) (text, token string, ok bool) {
	member := fields.Get(name)
	if member == nil || member.Value.Kind != structured.String {
		return "", "", false
	}
	if value, found := member.Params.Get(param); found && value.Kind == structured.Token {
		token = value.Text
	}
	if n := len(member.Params); n > 1 || n == 1 && token == "" {
		return "", "", false
	}
	return member.Value.Text, token, true
}
