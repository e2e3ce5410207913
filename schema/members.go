package schema

// Members returns the names of the members that the schema describes for an object at its
// root, in the published order; nil where the root is no object, or one of several variants.
func (s *Schema) Members() []string {
	if s.root.obj == nil {
		return nil
	}
	names := make([]string, len(s.root.obj.fields))
	for i := range s.root.obj.fields {
		names[i] = s.root.obj.fields[i].name()
	}
	return names
}
