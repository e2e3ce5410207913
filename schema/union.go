package schema

import "reflect"

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
// is the JSON object of its struct with the discriminator added as first member.
// A mistake (T is no interface, a variant is no struct, a field has the discriminator's name)
// is reported by [For] and [ForType].
func OneOf[T any](discriminator string, variants Variants[T]) Union {
	u := Union{iface: reflect.TypeFor[T](), discriminator: discriminator, variants: make(map[string]reflect.Type, len(variants))}
	for name, variant := range variants {
		u.variants[name] = reflect.TypeOf(variant)
	}
	return u
}
