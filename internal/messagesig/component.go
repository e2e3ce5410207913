package messagesig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ambit-dev/ambit/internal/structured"
)

// Component is something of a message that a signature covers (RFC 9421,
// section 2).
type Component struct {
	// Name is a field name in lower case, or that of a derived component, as
	// in "@method".
	Name string
	// Key is the member of a dictionary field that is covered alone. Empty: the
	// field as a whole.
	Key string
	// Request says that it is a component of the request, covered by the
	// signature of its response.
	Request bool
}

// identify reads one item of a list of covered components.
func identify(item structured.Item) (Component, error) {
	name := item.Value.Text
	if item.Value.Kind != structured.String || !fieldName(strings.TrimPrefix(name, "@")) {
		return Component{}, errors.New("a covered component has no name in lower case")
	}
	c := Component{Name: name}
	for _, param := range item.Params {
		value := param.Value
		switch {
		case param.Name == "key" && value.Kind == structured.String && value.Text != "" && name[0] != '@':
			c.Key = value.Text
		case param.Name == "req" && value.Kind == structured.Boolean && value.Number == 1:
			c.Request = true
		default:
			return Component{}, fmt.Errorf("a component has the parameter %q, which is not known here", param.Name)
		}
	}
	return c, nil
}

// item is the inverse of [identify].
func (c Component) item() structured.Item {
	item := structured.Item{Value: structured.Text(c.Name)}
	if c.Key != "" {
		item.Params = append(item.Params, structured.Param{Name: "key", Value: structured.Text(c.Key)})
	}
	if c.Request {
		item.Params = append(item.Params, structured.Param{Name: "req", Value: structured.True()})
	}
	return item
}

// fieldName reports whether a text is the name of a field in lower case (RFC
// 9110, section 5.1).
func fieldName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return name != ""
}
