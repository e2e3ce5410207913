package schema

// redacted stands for a secret value.
const redacted = `"(secret)"`

// Redact appends to dst a JSON text that the schema has accepted, with a placeholder for the
// value of every field that is marked secret. It is for showing an input to a person or a
// monitor, complete but for what nobody may see. It is safe for concurrent use.
func (s *Schema) Redact(dst, data []byte) []byte {
	if !s.secret {
		return append(dst, data...)
	}
	w := rewrite{replace: func(dst []byte, n *node, secret bool, _, _ []byte) ([]byte, bool) {
		if secret || n != nil && n.secret {
			return append(dst, redacted...), true
		}
		return dst, false
	}}
	return w.value(dst, s.root, false, nil, data)
}

// Secrets returns the values of a JSON text that the schema has accepted which [Schema.Redact]
// replaces, as they stand in it, so that one can tell whether another text gives them away. It
// is safe for concurrent use.
func (s *Schema) Secrets(data []byte) (secrets [][]byte) {
	if !s.secret {
		return nil
	}
	w := rewrite{replace: func(dst []byte, n *node, secret bool, _, value []byte) ([]byte, bool) {
		if secret || n != nil && n.secret {
			secrets = append(secrets, value)
			return dst, true
		}
		return dst, false
	}}
	w.value(nil, s.root, false, nil, data)
	return secrets
}
