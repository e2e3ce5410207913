package schema

import "github.com/ambit-dev/ambit/internal/strictjson"

// redacted stands for a secret value.
const redacted = `"(secret)"`

// Redact appends to dst a JSON text that the schema has accepted, with a placeholder for the
// value of every field that is marked secret. It is for showing an input to a person or a
// monitor, complete but for what nobody may see. It is safe for concurrent use.
func (s *Schema) Redact(dst, data []byte) []byte {
	if !s.secret {
		return append(dst, data...)
	}
	return appendRedacted(dst, s.root, data)
}

func appendRedacted(dst []byte, n *node, data []byte) []byte {
	switch {
	case n == nil || len(data) == 0:
		return append(dst, data...)
	case n.secret:
		return append(dst, redacted...)
	case n.union != nil:
		return appendRedacted(dst, n.union.chosen(data), data)
	case n.branches != nil:
		return appendRedacted(dst, n.branchFor(typeOfByte(data[0])), data)
	case n.obj == nil && n.arr == nil && n.described != nil:
		return appendRedacted(dst, n.described, data)
	case data[0] == '{' && n.obj != nil:
		return appendRedactedObject(dst, n.obj, data)
	case data[0] == '[' && n.arr != nil:
		dst = append(dst, '[')
		elements := strictjson.Elements(data, strictjson.MaxDepth)
		for i := 0; elements.Next(); i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendRedacted(dst, n.arr.items, elements.Value())
		}
		return append(dst, ']')
	}
	return append(dst, data...)
}

func appendRedactedObject(dst []byte, o *object, data []byte) []byte {
	dst = append(dst, '{')
	members := strictjson.Members(data, strictjson.MaxDepth)
	for i := 0; members.Next(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(strictjson.AppendString(dst, members.Key()), ':')
		switch at := o.find(members.Key()); {
		case at >= 0 && o.fields[at].secret:
			dst = append(dst, redacted...)
		case at >= 0:
			dst = appendRedacted(dst, o.fields[at].node, members.Value())
		default:
			dst = appendRedacted(dst, o.extra, members.Value())
		}
	}
	return append(dst, '}')
}

// chosen returns the variant that an object names, or nil.
func (u *unionRules) chosen(data []byte) *node {
	if data[0] != '{' {
		return nil
	}
	members := strictjson.Members(data, strictjson.MaxDepth)
	for members.Next() {
		value := members.Value()
		if string(members.Key()) != u.discriminator || len(value) < 2 || value[0] != '"' {
			continue
		}
		name := strictjson.Unquote(value[1 : len(value)-1])
		if i := u.variant(name); i >= 0 {
			return u.variants[i]
		}
	}
	return nil
}
