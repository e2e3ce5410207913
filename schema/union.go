package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// A Union says which concrete types may stand for an interface type, and which member tells
// them apart on the wire. Make one with [OneOf]; the zero value is an error when used.
type Union struct {
	iface         reflect.Type
	discriminator string
	variants      map[string]reflect.Type
}

// Variants maps each value of the discriminator to a value of the type that it stands for.
// Only the type of the value matters: a struct, or a pointer to a struct, that implements T.
type Variants[T any] map[string]T

// OneOf declares the interface type T to be one of the given variants. On the wire a variant
// is the JSON object of its struct with the discriminator added as first member. Reading
// accepts it at any place in the object.
//
// A mistake (T is no interface, a variant is no struct, two variants have one type, a field has
// the discriminator's name) is reported by [For] and [ForType].
func OneOf[T any](discriminator string, variants Variants[T]) Union {
	u := Union{
		iface:         reflect.TypeFor[T](),
		discriminator: discriminator,
		variants:      make(map[string]reflect.Type, len(variants)),
	}
	for name, variant := range variants {
		u.variants[name] = reflect.TypeOf(variant)
	}
	return u
}

// declare checks a union and keeps it.
func (c *typeCompiler) declare(u Union) error {
	switch {
	case u.iface == nil:
		return errors.New("schema: a union is empty; make it with OneOf")
	case u.iface.Kind() != reflect.Interface || u.iface == anyType:
		return fmt.Errorf("schema: union of %s: must be of an interface type with methods", u.iface)
	case u.discriminator == "":
		return fmt.Errorf("schema: union of %s: the discriminator needs a name", u.iface)
	case len(u.variants) == 0:
		return fmt.Errorf("schema: union of %s: has no variants", u.iface)
	case slices.ContainsFunc(c.declared, func(known Union) bool { return known.iface == u.iface }):
		return fmt.Errorf("schema: union of %s: is declared twice", u.iface)
	}
	taken := map[reflect.Type]string{}
	for _, name := range slices.Sorted(maps.Keys(u.variants)) {
		t := u.variants[name]
		switch {
		case name == "" || t == nil:
			return fmt.Errorf("schema: union of %s: variant %q needs a name and a value", u.iface, name)
		case taken[t] != "":
			return fmt.Errorf("schema: union of %s: %q and %q are both %s; give each variant its own type", u.iface, taken[t], name, t)
		}
		taken[t] = name
	}
	c.declared = append(c.declared, u)
	return nil
}

// union returns the node of an interface type.
func (c *typeCompiler) union(t reflect.Type) (*node, error) {
	if n := ofType(c.unions, t); n != nil {
		return n, nil
	}
	i := slices.IndexFunc(c.declared, func(u Union) bool { return u.iface == t })
	if i < 0 {
		return nil, fmt.Errorf("%s is an interface; declare its variants with schema.OneOf, or use any", t)
	}
	declared := c.declared[i]
	n := goNode(t, typeObject, bindUnion)
	n.rare().union = &unionRules{discriminator: declared.discriminator}
	if t.Name() != "" {
		n.named = n
	}
	c.unions = append(c.unions, n)
	for _, name := range slices.Sorted(maps.Keys(declared.variants)) {
		variant := declared.variants[name]
		structType := variant
		if variant.Kind() == reflect.Pointer {
			structType = variant.Elem()
		}
		if structType.Kind() != reflect.Struct || isValueStruct(structType) {
			return nil, fmt.Errorf("union of %s: variant %q is a %s; a variant is a struct or a pointer to one", t, name, variant)
		}
		value := goNode(structType, typeObject, bindStruct)
		value.obj = &object{closed: true, max: -1, fields: []field{constantField(declared.discriminator, name)}}
		if err := c.fields(value.obj, structType); err != nil {
			return nil, fmt.Errorf("union of %s: variant %q: %w", t, name, err)
		}
		n.union.names = append(n.union.names, name)
		n.union.variants = append(n.union.variants, value)
		n.union.goTypes = append(n.union.goTypes, variant)
		n.union.allowed = append(n.union.allowed, name)
	}
	return n, nil
}

// constantField is the discriminator of a variant.
func constantField(name, value string) field {
	n := newNode(typeString)
	n.enum = newEnum(true, [][]byte{strictjson.AppendString(nil, value)})
	f := newField(name, n)
	f.required = true
	return f
}
