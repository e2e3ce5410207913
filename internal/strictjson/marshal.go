package strictjson

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal appends the JSON form of v to dst, for values that define their own or whose type is
// not known beforehand. Members of maps are sorted. On an error dst is returned as it came.
// The text of an error may hold parts of the value and names of Go types; don't pass it on.
func Marshal(dst []byte, v any) ([]byte, error) {
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return dst, err
	}
	return append(dst, out...), nil
}

// Unmarshal sets the value that v points to from data. Keys must be spelled exactly; duplicate
// and unknown ones and trailing data are errors. After an error the value may be half filled.
// The text of an error may hold parts of the data and names of Go types; don't pass it on.
func Unmarshal(data []byte, v any) error {
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false))
}
