package messagesig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-dev/ambit/internal/structured"
)

// Signature is one signature of a message as its header has it. Nothing about
// it is verified.
type Signature struct {
	// Label is the name that it has in both of its fields.
	Label string

	list    structured.Member
	covered []Component
	fault   error // why its components cannot be told
	value   []byte
}

// Parse reads the lines of Signature-Input and Signature (RFC 9421, section 4)
// and returns the signatures in the order of Signature-Input. What is wrong with
// one signature is found out when it is asked, so that a message may carry
// others, of somebody else, that are of no concern.
func Parse(input, signature []string) ([]*Signature, error) {
	inputs, err := Dictionary(input)
	if err != nil {
		return nil, fmt.Errorf("Signature-Input: %w", err)
	}
	values, err := Dictionary(signature)
	if err != nil {
		return nil, fmt.Errorf("Signature: %w", err)
	}
	signatures := make([]*Signature, 0, MaxSignatures)
	for _, list := range inputs {
		if list.Value.Kind != structured.InnerList {
			return nil, errors.New("Signature-Input: a member is not a list of components")
		}
		s := &Signature{Label: list.Name, list: list}
		s.covered, s.fault = identifyAll(list.Items)
		if value := values.Get(list.Name); value != nil {
			s.value = value.Value.Bytes
		}
		signatures = append(signatures, s)
	}
	return signatures, nil
}

func identifyAll(items []structured.Item) ([]Component, error) {
	if len(items) > MaxComponents {
		return nil, fmt.Errorf("more than %d components are covered", MaxComponents)
	}
	covered := make([]Component, 0, len(items))
	for _, item := range items {
		one, err := identify(item)
		if err != nil {
			return nil, err
		}
		if slices.Contains(covered, one) {
			return nil, errors.New("a component is covered twice")
		}
		covered = append(covered, one)
	}
	return covered, nil
}

// Fault returns why the components of the signature cannot be told: one of them
// is not known, comes twice, or there are too many. Nil: they can.
func (s *Signature) Fault() error { return s.fault }

// Value returns the bytes of the signature, nil where the Signature field has
// none under its label.
func (s *Signature) Value() []byte { return s.value }

// Covers reports whether a component is covered.
func (s *Signature) Covers(c Component) bool { return slices.Contains(s.covered, c) }

// Keys returns the members of a dictionary field that are covered one by one.
func (s *Signature) Keys(field string) []string {
	var keys []string
	for _, one := range s.covered {
		if one.Name == field && one.Key != "" && !one.Request {
			keys = append(keys, one.Key)
		}
	}
	return keys
}

// Has reports whether the signature has a parameter, of whatever type.
func (s *Signature) Has(name string) bool {
	_, ok := s.list.Params.Get(name)
	return ok
}

// Text returns a parameter that is a string, and false where there is none of
// this name or it is something else.
func (s *Signature) Text(name string) (string, bool) {
	value, _ := s.list.Params.Get(name)
	if value.Kind != structured.String {
		return "", false
	}
	return value.Text, true
}

// Integer returns a parameter that is an integer, and false where there is none
// of this name or it is something else, a decimal included.
func (s *Signature) Integer(name string) (int64, bool) {
	value, _ := s.list.Params.Get(name)
	if value.Kind != structured.Integer {
		return 0, false
	}
	return value.Number, true
}

// Base returns the bytes that the signature signs, of a message (RFC 9421,
// section 2.5). It fails where the message lacks something that is covered.
func (s *Signature) Base(m *Message) ([]byte, error) {
	if s.fault != nil {
		return nil, s.fault
	}
	return base(m, s.covered, s.list)
}
