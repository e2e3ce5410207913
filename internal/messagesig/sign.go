package messagesig

import (
	"time"

	"github.com/ambit-dev/ambit/internal/structured"
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
	list := listOf(label, components, p.list())
	covered, err := identifyAll(list.Items)
	if err != nil {
		return "", "", err
	}
	text, err := base(m, covered, list)
	if err != nil {
		return "", "", err
	}
	written, err := structured.AppendMember(nil, list)
	if err != nil {
		return "", "", err
	}
	signature, err = member(label, structured.Item{Value: structured.Binary(sign(text))})
	return string(written), signature, err
}

// listOf returns a list of components as a member.
func listOf(label string, components []Component, params structured.Params) structured.Member {
	list := structured.Member{Name: label, Items: make([]structured.Item, len(components))}
	list.Value.Kind, list.Params = structured.InnerList, params
	for i, c := range components {
		list.Items[i] = c.item()
	}
	return list
}

func (p Params) list() structured.Params {
	var list structured.Params
	if !p.Created.IsZero() {
		list = append(list, structured.Param{Name: "created", Value: structured.Number(p.Created.Unix())})
	}
	if !p.Expires.IsZero() {
		list = append(list, structured.Param{Name: "expires", Value: structured.Number(p.Expires.Unix())})
	}
	return appendTexts(list, []text{{"keyid", p.KeyID}, {"alg", p.Alg}, {"nonce", p.Nonce}, {"tag", p.Tag}})
}

// text is a parameter that is a string.
type text struct{ name, value string }

// appendTexts adds those that are not empty.
func appendTexts(list structured.Params, texts []text) structured.Params {
	for _, t := range texts {
		if t.value != "" {
			list = append(list, structured.Param{Name: t.name, Value: structured.Text(t.value)})
		}
	}
	return list
}

// Accept returns the member of an Accept-Signature field (RFC 9421, section
// 5.1) that asks for a signature of these components and with these parameters,
// whose values the signer chooses. An empty nonce or tag is not asked for.
func Accept(label string, components []Component, params []string, nonce, tag string) (string, error) {
	var asked structured.Params
	for _, param := range params {
		asked = append(asked, structured.Param{Name: param, Value: structured.True()})
	}
	asked = appendTexts(asked, []text{{"nonce", nonce}, {"tag", tag}})
	written, err := structured.AppendMember(nil, listOf(label, components, asked))
	return string(written), err
}

// Text returns a dictionary with one member that is a string.
func Text(label, text string) (string, error) {
	return member(label, structured.Item{Value: structured.Text(text)})
}

func member(label string, item structured.Item) (string, error) {
	written, err := structured.AppendMember(nil, structured.Member{Name: label, Item: item})
	return string(written), err
}
