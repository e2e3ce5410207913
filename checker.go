package ambit

import (
	"context"
	"fmt"
	"reflect"
)

// Checker is what an input type implements that has rules across its members,
// such as an end that must not come before its start. Check is called once the
// schema's own rules hold, must change nothing, and returns what is wrong, each
// fault with the JSON Pointer of the member to blame, as in [Invalid]. A fault's Rule is
// "application" where it is empty; at most [schema.MaxFaults] are told.
//
// Only the input's own Check is called. One of a struct within it is for the
// input's Check to call, which knows where in the input that struct is.
type Checker interface {
	// Check returns what is wrong, or nil.
	Check(ctx context.Context) []Fault
}

// checkerOf returns how an input of a type is asked its own rules, nil where the type
// has none. What it returns for an input is nil where that has none.
func checkerOf[In any]() func(*In) Checker {
	t, checker := reflect.TypeFor[In](), reflect.TypeFor[Checker]()
	switch {
	case reflect.PointerTo(t).Implements(checker):
		return func(in *In) Checker { c, _ := any(in).(Checker); return c }
	case t.Implements(checker) || t.Kind() == reflect.Interface: // In is a pointer, or may hold one
		return func(in *In) Checker { c, _ := any(*in).(Checker); return c }
	}
	return nil
}

// checkerFault says what is wrong with the Check of an input type that was meant
// to be a [Checker] and is none, so that nobody would ask it. A method of that name
// which does something else, by what it takes and returns, is no mistake.
func checkerFault(in reflect.Type) string {
	t := in
	if t.Kind() != reflect.Pointer {
		t = reflect.PointerTo(t)
	}
	method, ok := t.MethodByName("Check")
	if !ok || t.Implements(reflect.TypeFor[Checker]()) || !meansChecker(method.Type) {
		return ""
	}
	return fmt.Sprintf("its input %s has a method Check that is never called, because it is no ambit.Checker: make it Check(context.Context) []ambit.Fault, or give it another name", in)
}

// meansChecker reports whether a method, its receiver first, takes at most a
// context and returns faults of some form.
func meansChecker(method reflect.Type) bool {
	if method.NumIn() > 2 || method.NumIn() == 2 && method.In(1) != reflect.TypeFor[context.Context]() {
		return false
	}
	for i := range method.NumOut() {
		switch method.Out(i) {
		case reflect.TypeFor[[]Fault](), reflect.TypeFor[[]*Fault](), reflect.TypeFor[Fault](), reflect.TypeFor[*Fault](), reflect.TypeFor[*Error]():
			return true
		}
	}
	return false
}
