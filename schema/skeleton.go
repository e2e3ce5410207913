package schema

import (
	"errors"
	"reflect"
)

type node struct{}

var errUnready = errors.New("schema: not ready")

// For returns the schema of T.
func For[T any](o Options) (*Schema, error) { return ForType(reflect.TypeFor[T](), o) }

// ForType returns the schema of t.
func ForType(t reflect.Type, o Options) (*Schema, error) { return nil, errUnready }

// Parse compiles a JSON Schema 2020-12 text.
func Parse(text []byte) (*Schema, error) { return nil, errUnready }

// Decode reads one JSON value strictly, applies defaults, checks it, and sets dst.
func (s *Schema) Decode(data []byte, dst reflect.Value, depth int) []Fault { return nil }

// Check gives the verdict of Decode and sets nothing.
func (s *Schema) Check(data []byte, depth int) []Fault { return nil }

// Complete fills defaults into v.
func (s *Schema) Complete(v reflect.Value) {}

// CheckValue checks a Go value.
func (s *Schema) CheckValue(v reflect.Value) []Fault { return nil }

// Append checks v and appends its JSON form to dst.
func (s *Schema) Append(dst []byte, v reflect.Value) ([]byte, []Fault) { return dst, nil }
