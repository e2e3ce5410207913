package messagesig

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ambit-dev/ambit/internal/structured"
)

// Message is what there is to cover of a request or a response. It must not be
// used by two goroutines at once, nor its header changed while it is.
type Message struct {
	// Method, Scheme, Authority, Path and Query are the request's, the
	// authority as [Authority] makes it, the path and the query escaped, the
	// query without its question mark.
	Method, Scheme, Authority, Path, Query string
	// Header holds the fields. A request's Host is not among them.
	Header http.Header
	// Status is a response's status code. Zero: this is a request.
	Status int
	// Request is what a response answers. Nil: not known, so that nothing of
	// it can be covered.
	Request *Message

	dictionaries map[string]structured.Dictionary // what was parsed for their members
	parsed       int                              // bytes of them
	based        int                              // bytes of what all signatures cover
}

// Authority returns the value of @authority for a scheme and a host with or
// without port: in lower case, without the port that is the scheme's own (RFC
// 9421, section 2.2.3).
func Authority(scheme, host string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// base writes a line for each component and the one that says which they are.
func base(m *Message, covered []Component, list structured.Member) ([]byte, error) {
	text := make([]byte, 0, 1024)
	for i, c := range covered {
		value, err := m.value(c)
		if err != nil {
			return nil, err
		}
		if m.based += len(value); m.based > maxBase {
			return nil, errors.New("what is covered is too large")
		}
		if text, err = list.Items[i].Append(text); err != nil {
			return nil, err
		}
		text = append(text, ": "...)
		text = append(text, value...)
		text = append(text, '\n')
	}
	return list.Append(append(text, `"@signature-params": `...))
}

// value returns the value of a component. A line break in it would be a line of
// its own in the base.
func (m *Message) value(c Component) (string, error) {
	of := m
	if c.Request {
		of = m.Request
	}
	value, ok := "", false
	switch {
	case of == nil:
	case c.Name[0] == '@':
		value, ok = of.derived(c.Name)
	default:
		value, ok = of.field(c.Name, c.Key)
	}
	if !ok || strings.ContainsAny(value, "\r\n") {
		return "", fmt.Errorf("the message has no %q that could be covered", c.Name)
	}
	return value, nil
}

// derived returns the value of a derived component (RFC 9421, section 2.2).
func (m *Message) derived(name string) (string, bool) {
	if name == "@status" {
		return strconv.Itoa(m.Status), m.Status != 0
	}
	if m.Status != 0 {
		return "", false
	}
	path, query := m.Path, ""
	if path == "" {
		path = "/"
	}
	if m.Query != "" {
		query = "?" + m.Query
	}
	switch name {
	case "@method":
		return m.Method, true
	case "@scheme":
		return m.Scheme, true
	case "@authority":
		return m.Authority, true
	case "@path":
		return path, true
	case "@query":
		return "?" + m.Query, true
	case "@request-target":
		return path + query, true
	case "@target-uri":
		return m.Scheme + "://" + m.Authority + path + query, true
	}
	return "", false
}

// field returns the value of a field or of a member of it (RFC 9421, sections
// 2.1 and 2.1.2).
func (m *Message) field(name, key string) (string, bool) {
	if key != "" {
		return m.member(name, key)
	}
	lines := m.Header[http.CanonicalHeaderKey(name)]
	switch len(lines) {
	case 0:
		return "", false
	case 1:
		return strings.Trim(lines[0], " \t"), true
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.Trim(line, " \t")
	}
	return strings.Join(trimmed, ", "), true
}

// member returns the value of a member of a dictionary field.
func (m *Message) member(name, key string) (string, bool) {
	fields, err := m.Dictionary(name)
	if err != nil {
		return "", false
	}
	member := fields.Get(key)
	if member == nil {
		return "", false
	}
	value, err := member.Append(nil)
	return string(value), err == nil
}

// Dictionary parses a dictionary field, by its name in lower case, once, however
// many signatures cover members of it. It is an error where the field is not one,
// and where too much was parsed of this message already.
func (m *Message) Dictionary(name string) (structured.Dictionary, error) {
	if fields := m.dictionaries[name]; fields != nil {
		return fields, nil
	}
	lines := m.Header[http.CanonicalHeaderKey(name)]
	for _, line := range lines {
		m.parsed += len(line)
	}
	if m.parsed > maxMembers {
		return nil, errors.New("the fields that are covered by members are too large")
	}
	fields, err := Dictionary(lines)
	if err != nil {
		return nil, err
	}
	if m.dictionaries == nil {
		m.dictionaries = map[string]structured.Dictionary{}
	}
	m.dictionaries[name] = fields
	return fields, nil
}
