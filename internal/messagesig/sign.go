package messagesig

import (
	"time"

	"github.com/dunglas/httpsfv"
)

// Params are what a new signature says about itself (RFC 9421, section 2.3).
// What is empty or zero is left out.
type Params struct {
	Created, Expires       time.Time
	KeyID, Alg, Nonce, Tag string
}

// Sign covers components of a message and returns the values of its
// Signature-Input and Signature fields, for a signature with this label. It
// fails where the message lacks a component, and where a text cannot stand in a
// field.
func Sign(m *Message, label string, components []Component, p Params, sign func(base []byte) []byte) (input, signature string, err error) {
	list := httpsfv.InnerList{Items: make([]httpsfv.Item, len(components)), Params: p.list()}
	for i, c := range components {
		list.Items[i] = c.item()
	}
	covered, err := identifyAll(list.Items)
	if err != nil {
		return "", "", err
	}
	text, err := base(m, covered, list)
	if err != nil {
		return "", "", err
	}
	if input, err = member(label, list); err != nil {
		return "", "", err
	}
	signature, err = member(label, httpsfv.NewItem(sign(text)))
	return input, signature, err
}

func (p Params) list() *httpsfv.Params {
	list := httpsfv.NewParams()
	if !p.Created.IsZero() {
		list.Add("created", p.Created.Unix())
	}
	if !p.Expires.IsZero() {
		list.Add("expires", p.Expires.Unix())
	}
	for _, text := range []struct{ name, value string }{{"keyid", p.KeyID}, {"alg", p.Alg}, {"nonce", p.Nonce}, {"tag", p.Tag}} {
		if text.value != "" {
			list.Add(text.name, text.value)
		}
	}
	return list
}

// Accept returns the member of an Accept-Signature field (RFC 9421, section
// 5.1) that asks for a signature of these components and with these parameters,
// whose values the signer chooses. An empty nonce or tag is not asked for.
func Accept(label string, components []Component, params []string, nonce, tag string) (string, error) {
	list := httpsfv.InnerList{Params: httpsfv.NewParams()}
	for _, c := range components {
		list.Items = append(list.Items, c.item())
	}
	for _, param := range params {
		list.Params.Add(param, true)
	}
	if nonce != "" {
		list.Params.Add("nonce", nonce)
	}
	if tag != "" {
		list.Params.Add("tag", tag)
	}
	return member(label, list)
}

// Text returns a dictionary with one member that is a string.
func Text(label, text string) (string, error) { return member(label, httpsfv.NewItem(text)) }

func member(label string, value httpsfv.Member) (string, error) {
	fields := httpsfv.NewDictionary()
	fields.Add(label, value)
	return httpsfv.Marshal(fields)
}
