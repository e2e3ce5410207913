package mcp

import "github.com/ambit-dev/ambit/internal/strictjson"

// maxID is the most bytes that a request id or a progress token may have.
const maxID = 256

// validID returns value where it is the JSON text of a string or integer that
// is short enough to be carried around, else nil.
func validID(value []byte) []byte {
	switch {
	case len(value) == 0:
		return nil
	case value[0] == '"':
		if len(decoded(value)) > maxID {
			return nil
		}
		return value
	case len(value) > maxID || value[0] != '-' && (value[0] < '0' || value[0] > '9'):
		return nil
	}
	if _, digits, err := strictjson.Number(value, 0); err != nil || !digits {
		return nil
	}
	return value
}

// sameID is a form in which two ids are equal exactly when they are the same:
// the string "1" and the number 1 are not, a string and its escaped form are.
func sameID(id []byte) string {
	if id[0] == '"' {
		return "s" + string(decoded(id))
	}
	return "n" + string(id)
}
