package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestWideStructs reads structs with more fields than one machine word has bits.
func TestWideStructs(t *testing.T) {
	t.Parallel()
	for _, width := range []int{12, 13, 63, 64, 65, 128, 129, 300} {
		fields := make([]reflect.StructField, width)
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[int]()}
		}
		s, err := ForType(reflect.StructOf(fields), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var forward, backward []string
		for i := range width {
			forward = append(forward, fmt.Sprintf(`"F%d":%d`, i, i))
			backward = append([]string{fmt.Sprintf(`"F%d":%d`, i, i)}, backward...)
		}
		checkDecode(t, s, "{"+strings.Join(forward, ",")+"}", nil)
		checkDecode(t, s, "{ "+strings.Join(backward, " , ")+" }", nil)
		last := fmt.Sprintf("/F%d", width-1)
		checkDecode(t, s, "{"+strings.Join(forward[:width-1], ",")+"}", []Fault{fault(last, "required")})
		checkDecode(t, s, "{"+strings.Join(append(forward, forward[width-1]), ",")+"}", []Fault{fault(last, "duplicate")})
	}
}

// TestCyclicValues shows that a Go value that contains itself ends as a fault.
func TestCyclicValues(t *testing.T) {
	t.Parallel()
	s := mustFor[tree](t)
	root := tree{Name: "a"}
	root.Parent = &root
	v := reflect.ValueOf(&root).Elem()
	s.Complete(v)
	faults := s.CheckValue(v)
	if len(faults) != 1 || faults[0].Rule != "depth" {
		t.Errorf("want one fault of rule depth, got %+v", faults)
	}
	if out, faults := s.Append([]byte("x"), v); faults == nil || string(out) != "x" {
		t.Errorf("want the slice as it came, got %q", out)
	}
}

// TestCompleteVariants fills defaults into copies of what interfaces hold.
func TestCompleteVariants(t *testing.T) {
	t.Parallel()
	type drawing struct {
		Shapes []shape_ `json:"shapes"`
	}
	s := mustFor[drawing](t, OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}, "box": box{}}))
	given := &square{Inner: box{}}
	d := drawing{Shapes: []shape_{given, box{}, nil, (*square)(nil), circle{}}}
	s.Complete(reflect.ValueOf(&d).Elem())
	outer, inner := d.Shapes[0].(*square), d.Shapes[1].(box)
	if outer.Side != 1 || outer.Inner.(box).Width != 4 || inner.Width != 4 {
		t.Errorf("want the defaults, got %+v and %+v", outer, inner)
	}
	if given.Side != 0 || given.Inner.(box).Width != 0 {
		t.Errorf("what the pointer led to: want it as it was, got %+v", given)
	}
}

type box struct {
	Width int `json:"width" default:"4" minimum:"1"`
}

func (box) area() float64 { return 0 }

// TestRedactVariants hides the secret of the variant that was sent.
func TestRedactVariants(t *testing.T) {
	t.Parallel()
	type holder struct {
		Shape shape_           `json:"shape"`
		Pins  map[string]*safe `json:"pins"`
	}
	s := mustFor[holder](t, OneOf("kind", Variants[shape_]{"circle": circle{}, "safe": safe{}}))
	const data = `{"shape":{"pin":"canary","kind":"safe"},"pins":{"a":{"pin":"canary"}}}`
	const want = `{"shape":{"pin":"(secret)","kind":"safe"},"pins":{"a":{"pin":"(secret)"}}}`
	if got := string(s.Redact(nil, []byte(data))); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

type safe struct {
	Pin string `json:"pin" secret:"true"`
}

func (safe) area() float64 { return 0 }
