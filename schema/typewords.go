package schema

import (
	"reflect"
	"strconv"
)

// typeWords names a type in an error. A struct without a name is cut short: its text holds all
// of its fields and tags.
func typeWords(t reflect.Type) string {
	if t.Name() != "" {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Struct:
		return "struct{…}"
	case reflect.Pointer:
		return "*" + typeWords(t.Elem())
	case reflect.Slice:
		return "[]" + typeWords(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeWords(t.Elem())
	case reflect.Map:
		return "map[" + typeWords(t.Key()) + "]" + typeWords(t.Elem())
	}
	return t.String()
}

// fieldWords names a field in an error. That of a struct without a name stands alone, since what
// holds it has been named.
func fieldWords(t reflect.Type, field string) string {
	if t.Name() == "" {
		return field
	}
	return t.String() + "." + field
}
