package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// structNode returns the node of a struct type, the same one each time.
func (c *typeCompiler) structNode(t reflect.Type) (*node, error) {
	if n := ofType(c.structs, t); n != nil {
		return n, nil
	}
	n := goNode(t, typeObject, bindStruct)
	n.obj = &object{closed: true, max: -1}
	if t.Name() != "" {
		n.named = n
	}
	c.structs = append(c.structs, n)
	if err := c.fields(n.obj, t); err != nil {
		return nil, err
	}
	return n, nil
}

// fields adds the fields of a struct to an object.
func (c *typeCompiler) fields(o *object, t reflect.Type) error {
	found, err := flatten(t, nil, nil)
	if err != nil {
		return err
	}
	if found, err = shadow(t, found); err != nil {
		return err
	}
	if len(found) == 0 && t.NumField() > 0 {
		return fmt.Errorf("%s has fields but none that is exported; export them or define MarshalText and UnmarshalText", typeWords(t))
	}
	discriminators := o.fields
	o.fields = slices.Grow(o.fields, len(found))
	for i := range found {
		member := &found[i]
		if slices.ContainsFunc(discriminators, func(f field) bool { return f.name() == member.name }) {
			return fmt.Errorf("%s: the name %q is taken by the discriminator; rename one of them", fieldWords(t, member.goName), member.name)
		}
		f, err := c.field(o, member)
		if err != nil {
			return fmt.Errorf("%s: %w", fieldWords(t, member.goName), err)
		}
		o.fields = append(o.fields, f)
	}
	o.seal()
	return nil
}

// member is one struct field that has a JSON name.
type member struct {
	name   string
	goName string
	goType reflect.Type
	index  int   // in its struct
	within []int // the embedded structs that lead to it
	omit   omission
	tags   tags
}

// flatten lists the fields of a struct in order, those of embedded structs in their place.
// within leads to the struct, types are those around it.
func flatten(t reflect.Type, within []int, types []reflect.Type) ([]member, error) {
	found := make([]member, 0, t.NumField())
	for i := range t.NumField() {
		sf := t.Field(i)
		tags, err := parseTags(sf.Tag)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fieldWords(t, sf.Name), err)
		}
		name, omit, skip, err := jsonName(&tags)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fieldWords(t, sf.Name), err)
		}
		if skip {
			continue
		}
		if sf.Anonymous && name == "" {
			switch {
			case sf.Type.Kind() == reflect.Struct && !isValueStruct(sf.Type):
				if slices.Contains(types, sf.Type) {
					return nil, fmt.Errorf("%s: embeds itself", fieldWords(t, sf.Name))
				}
				if len(tags) > 0 {
					return nil, fmt.Errorf("%s: an embedded struct takes no tags but a json name; tag its fields instead", fieldWords(t, sf.Name))
				}
				inner, err := flatten(sf.Type, append(slices.Clip(within), i), append(types, t))
				if err != nil {
					return nil, err
				}
				found = append(found, inner...)
				continue
			case sf.Type.Kind() == reflect.Pointer && sf.Type.Elem().Kind() == reflect.Struct:
				return nil, fmt.Errorf("%s: an embedded pointer may be nil; embed the struct itself or give the field a json name", fieldWords(t, sf.Name))
			}
		}
		if !sf.IsExported() {
			if sf.Anonymous || tags.ours() {
				return nil, fmt.Errorf("%s: is not exported and can't be set; export it or remove its tags", fieldWords(t, sf.Name))
			}
			continue
		}
		if name == "" {
			name = sf.Name
		}
		found = append(found, member{name: name, goName: sf.Name, goType: sf.Type, index: i, within: within, omit: omit, tags: tags})
	}
	return found, nil
}

// isValueStruct reports whether a struct stands for one value and has no members.
func isValueStruct(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == timeType || p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}

// shadow keeps of several fields with one name the least deep one, as encoding/json does. Two
// on one level are a mistake.
func shadow(t reflect.Type, all []member) ([]member, error) {
	if !repeats(all) {
		return all, nil
	}
	best := make(map[string]int, len(all)) // by name, the place in all
	for i, m := range all {
		if other, taken := best[m.name]; !taken || len(m.within) < len(all[other].within) {
			best[m.name] = i
		}
	}
	kept := make([]member, 0, len(best))
	for i, m := range all {
		winner := best[m.name]
		switch {
		case winner == i:
			kept = append(kept, m)
		case len(all[winner].within) == len(m.within):
			return nil, fmt.Errorf("%s: the fields %s and %s both have the name %q; rename one of them", typeWords(t), all[winner].goName, m.goName, m.name)
		}
	}
	return kept, nil
}

// repeats reports whether two members have one name.
func repeats(all []member) bool {
	if len(all) > linearFields {
		names := make(map[string]bool, len(all))
		for i := range all {
			names[all[i].name] = true
		}
		return len(names) < len(all)
	}
	for i := range all {
		for j := range i {
			if all[i].name == all[j].name {
				return true
			}
		}
	}
	return false
}

// jsonName takes the json tag of a field away from the others and reads it.
func jsonName(t *tags) (name string, omit omission, skip bool, err error) {
	text, tagged := t.take("json")
	if !tagged {
		return "", 0, false, nil
	}
	if text == "-" {
		return "", 0, true, nil
	}
	name, rest, _ := strings.Cut(text, ",")
	if !utf8.ValidString(name) || strings.ContainsAny(name, "\"\\'`") {
		return "", 0, false, fmt.Errorf("tag json: the name must not hold quotation marks or backslashes")
	}
	for option := range strings.SplitSeq(rest, ",") {
		switch option {
		case "":
		case "omitempty":
			omit |= omitEmpty
		case "omitzero":
			omit |= omitZero
		case "string":
			return "", 0, false, fmt.Errorf("tag json: the option \"string\" hides the type; use a string field or leave it out")
		default:
			return "", 0, false, fmt.Errorf("tag json: the option %q is not known; known are omitempty and omitzero", option)
		}
	}
	return name, omit, false, nil
}

// field compiles one field.
func (c *typeCompiler) field(o *object, m *member) (field, error) {
	n, err := c.node(m.goType)
	if err != nil {
		return field{}, err
	}
	if len(m.tags) > 0 && (n.named != nil || n.bind == bindStruct || n.bind == bindUnion) {
		copied := *n // others may refer to it
		n = &copied
	}
	f := newField(m.name, n)
	f.omit = m.omit
	if len(m.within) == 0 {
		f.place = int32(m.index)
	} else {
		f.place, f.remark().path = inside, append(slices.Clip(m.within), m.index)
	}
	if err := f.annotate(m.tags); err != nil {
		return f, err
	}
	if err := n.constrain(m.tags); err != nil {
		return f, err
	}
	if err := f.presence(m); err != nil {
		return f, err
	}
	n.seal()
	c.later(o, len(o.fields), m)
	return f, nil
}

// annotate reads the tags that are words for readers.
func (f *field) annotate(t tags) error {
	for _, name := range []string{"doc", "title"} {
		if text, tagged := t.get(name); tagged && (text == "" || !utf8.ValidString(text)) {
			return fmt.Errorf("tag %s: must be valid text and not empty", name)
		}
	}
	if title, doc := t.text("title"), t.text("doc"); title != "" || doc != "" {
		f.remark().note = &annotations{title: title, doc: doc}
	}
	secret, err := t.flag("secret")
	if err != nil {
		return err
	}
	f.secret = secret
	for _, name := range []string{"default", "example"} {
		if t.any(name) && secret {
			return fmt.Errorf("tag %s: a secret field has no %s; remove one of the tags", name, name)
		}
	}
	return nil
}

// presence settles whether the field is required, and when its Go value counts as missing.
func (f *field) presence(m *member) error {
	nullable, err := m.tags.flag("nullable")
	if err != nil {
		return err
	}
	pointer := m.goType.Kind() == reflect.Pointer
	if f.omit&omitZero != 0 && !pointer && reflect.PointerTo(m.goType).Implements(zeroer) {
		f.omit |= omitMethod
	}
	if nullable {
		if !pointer && f.node.bind != bindSlice && f.node.bind != bindMap {
			return fmt.Errorf("tag nullable: a %s can't hold null; make the field a pointer", m.goType)
		}
		f.node.nullable = true
	}
	defaulted := m.tags.any("default")
	f.required = !pointer && f.omit == 0 && !defaulted
	if m.tags.any("required") {
		required, err := m.tags.flag("required")
		switch {
		case err != nil:
			return err
		case required && defaulted:
			return fmt.Errorf("tag required: a field with a default is never missing; remove one of the tags")
		case required && f.omit != 0:
			return fmt.Errorf("tag required: a required field can't be left out; remove omitempty and omitzero")
		}
		f.required = required
	}
	switch {
	case nullable && defaulted:
		return fmt.Errorf("tag default: null and a missing value are the same in Go; remove nullable or default")
	case pointer && !nullable:
		f.omit |= omitNil
	case !pointer && !f.required && !nullable:
		f.omit |= omitZero
	}
	return nil
}

// later settles default and example once the whole tree is there.
func (c *typeCompiler) later(o *object, i int, m *member) {
	if text, tagged := m.tags.get("default"); tagged {
		c.pending = append(c.pending, func() error {
			if err := o.setDefault(i, m, text); err != nil {
				return fmt.Errorf("%s: tag default: %w", m.goName, err)
			}
			return nil
		})
	}
	if text, tagged := m.tags.get("example"); tagged {
		c.pending = append(c.pending, func() error {
			f := &o.fields[i]
			value, err := f.tagValue(text)
			if err != nil {
				return fmt.Errorf("%s: tag example: %w", m.goName, err)
			}
			own := f.remark()
			if own.note == nil {
				own.note = &annotations{}
			}
			own.note.example = value
			return nil
		})
	}
}

// setDefault compiles a default.
func (o *object) setDefault(i int, m *member, text string) error {
	f := &o.fields[i]
	value, err := f.tagValue(text)
	if err != nil {
		return err
	}
	if m.goType.Kind() != reflect.Pointer {
		zero := reflect.New(m.goType).Elem()
		w := writer{write: true}
		w.value(f.node, &path{}, zero)
		if w.faults == nil {
			return fmt.Errorf("the zero value %s is a valid value too, and can't be told from a missing one; make the field a *%s", w.buf, m.goType)
		}
	}
	b := &fallback{json: value, value: reflect.New(m.goType).Elem()}
	b.set(f.node, b.value)
	switch f.node.bind {
	case bindBool, bindInt, bindUint, bindFloat, bindString, bindTime, bindDuration:
		b.plain = f.node.pointers == 0
	}
	f.remark().fallback = b
	o.defaults.set(i)
	return nil
}

// tagValue reads a value in a tag: as it stands for what is a string in JSON, as JSON otherwise.
func (f *field) tagValue(text string) ([]byte, error) {
	value := []byte(text)
	if f.node.types == typeString {
		value = strictjson.AppendString(nil, text)
	}
	if err := strictjson.Valid(value, DefaultDepth); err != nil {
		return nil, fmt.Errorf("%q is not JSON, as the type demands: %w", cut(text, echoLimit), err)
	}
	value, faults := filledValue(f.node, strictjson.Compact(nil, value))
	if faults != nil {
		return nil, fmt.Errorf("%s does not fit the field: %s %s", cut(text, echoLimit), faults[0].Pointer, faults[0].Message)
	}
	return value, nil
}
