package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

type (
	color   string
	level   int
	version struct{ major, minor int } // a text type
	point   struct{ x, y float64 }     // a type with methods and a description
	opaque  struct{ text string }      // a type with methods and none

	timestamps struct {
		Created time.Time `json:"created"`
		Updated time.Time `json:"updated,omitzero"`
	}
	page[T any] struct {
		Items []T     `json:"items"`
		Next  *string `json:"next" doc:"Where to go on"`
	}
	tree struct {
		Name     string          `json:"name"`
		Children []tree          `json:"children,omitempty"`
		Index    map[string]tree `json:"index,omitempty"`
		Parent   *tree           `json:"parent" nullable:"true"`
	}
	nested []nested

	shape_ interface{ area() float64 }
	circle struct {
		Radius float64 `json:"radius" minimum:"0"`
	}
	square struct {
		Side  float64 `json:"side" default:"1" exclusiveMinimum:"0"`
		Inner shape_  `json:"inner,omitempty"`
	}
)

func (color) Enum() []color  { return []color{"red", "green"} }
func (level) Enum() []any    { return []any{1, 2, level(3)} }
func (circle) area() float64 { return 0 }
func (*square) area() float64 {
	return 0
}

func (v version) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%d", v.major, v.minor), nil
}

func (v *version) UnmarshalText(text []byte) error {
	if n, err := fmt.Sscanf(string(text), "%d.%d", &v.major, &v.minor); n != 2 || err != nil {
		return errors.New("no version")
	}
	return nil
}

func (p point) MarshalJSON() ([]byte, error)     { return fmt.Appendf(nil, "[%v, %v]", p.x, p.y), nil }
func (p *point) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &[]any{&p.x, &p.y}) }
func (point) JSONSchema() string {
	return `{"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}`
}

func (o opaque) MarshalJSON() ([]byte, error) { return json.Marshal(o.text) }
func (o *opaque) UnmarshalJSON(data []byte) error {
	if string(data) == `"panic"` {
		panic("no")
	}
	return json.Unmarshal(data, &o.text)
}

type everything struct {
	timestamps
	Color    color             `json:"color"`
	Level    level             `json:"level" doc:"How loud" title:"Level"`
	Version  version           `json:"version"`
	Point    point             `json:"point"`
	Opaque   opaque            `json:"opaque"`
	Wait     time.Duration     `json:"wait" example:"1m30s"`
	Data     []byte            `json:"data"`
	Any      any               `json:"any"`
	Raw      json.RawMessage   `json:"raw"`
	Small    int8              `json:"small" minimum:"-5"`
	Wide     uint32            `json:"wide"`
	Big      uint64            `json:"big"`
	Float    float32           `json:"float" multipleOf:"0.5"`
	Fixed    [2]bool           `json:"fixed"`
	Matrix   [][]int           `json:"matrix" maxItems:"3" maximum:"9"`
	Map      map[string]uint8  `json:"map"`
	Optional *int              `json:"optional" default:"7" example:"8"`
	Size     int               `json:"size" default:"10" minimum:"1"`
	Null     *time.Time        `json:"null" nullable:"true"`
	Must     *bool             `json:"must" required:"true"`
	May      string            `json:"may" required:"false" pattern:"^[a-z]{2}$"`
	Page     page[color]       `json:"page"`
	Deep     page[page[level]] `json:"deep"`
	Secret   string            `json:"secret" secret:"true"`
	Untagged bool
	Skipped  chan int `json:"-"`
	_        int
}

func TestPublished(t *testing.T) {
	t.Parallel()
	shapes := OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}})
	tests := []struct {
		name   string
		goType reflect.Type
		object bool
	}{
		{"order", reflect.TypeFor[order](), true},
		{"everything", reflect.TypeFor[everything](), true},
		{"tree", reflect.TypeFor[tree](), true},
		{"trees", reflect.TypeFor[page[*tree]](), true},
		{"nested", reflect.TypeFor[nested](), false},
		{"union", reflect.TypeFor[shape_](), true},
		{"unions", reflect.TypeFor[map[string][]shape_](), true},
		{"string", reflect.TypeFor[string](), false},
		{"empty", reflect.TypeFor[struct{}](), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := ForType(test.goType, Options{Unions: []Union{shapes}})
			if err != nil {
				t.Fatal(err)
			}
			again, err := ForType(test.goType, Options{Unions: []Union{shapes}})
			if err != nil || string(again.JSON()) != string(s.JSON()) {
				t.Errorf("the published form is not stable: %v", err)
			}
			if s.IsObject() != test.object {
				t.Errorf("IsObject: want %v, got %v", test.object, s.IsObject())
			}
			if _, err := Parse(s.JSON()); err != nil {
				t.Errorf("the published form does not parse: %v", err)
			}
			golden(t, test.name, s.JSON())
		})
	}
}

// golden compares a published form, set out for reading, with a file.
func golden(t *testing.T, name string, published []byte) {
	t.Helper()
	path := filepath.Join("testdata", "published", name+".json")
	var value json.RawMessage = published
	got, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestEverythingRoundTrip(t *testing.T) {
	t.Parallel()
	s := mustFor[everything](t)
	checkDecode(t, s, `{"created":"2026-01-02T03:04:05.5+02:00","color":"red","level":3,"version":"1.2","point":[1,2.5],
		"opaque":"x","wait":"1h30m0s","data":"aGk=","any":{"b":[1,null,true,"x"],"a":1.5},"raw":{"z":1,"a":[]},"small":-5,"wide":4294967295,
		"big":18446744073709551615,"float":1.5,"fixed":[true,false],"matrix":[[1],[],[9,8]],"map":{"b":1,"a":255},
		"must":false,"page":{"items":["red"]},"deep":{"items":[{"items":[1,2],"next":"x"}]},"secret":"s","Untagged":true}`, nil)
	var e everything
	faults := s.Decode([]byte(`{}`), reflect.ValueOf(&e).Elem(), 0)
	if len(faults) != MaxFaults {
		t.Errorf("want %d faults, got %d", MaxFaults, len(faults))
	}
	for _, data := range []string{`"panic"`, `1`} {
		fields := strings.Replace(`{"o":X}`, "X", data, 1)
		type holder struct {
			O opaque `json:"o"`
		}
		checkDecode(t, mustFor[holder](t), fields, []Fault{fault("/o", "format")})
	}
}

func TestUnions(t *testing.T) {
	t.Parallel()
	type drawing struct {
		Shapes []shape_ `json:"shapes"`
		Main   shape_   `json:"main,omitempty"`
	}
	s := mustFor[drawing](t, OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}}))
	tests := []struct {
		data string
		want []Fault
	}{
		{`{"shapes":[{"kind":"circle","radius":1},{"side":2,"kind":"square"}]}`, nil},
		{`{"shapes":[{"kind":"square","inner":{"inner":{"radius":1,"k\u0069nd":"circle"},"kind":"square"}}]}`, nil},
		{`{"shapes":[{"radius":1}]}`, []Fault{fault("/shapes/0/kind", "required")}},
		{`{"shapes":[{}]}`, []Fault{fault("/shapes/0/kind", "required")}},
		{`{"shapes":[{"kind":"line"}]}`, []Fault{fault("/shapes/0/kind", "enum")}},
		{`{"shapes":[{"kind":7}]}`, []Fault{fault("/shapes/0/kind", "enum")}},
		{`{"shapes":[{"kind":"circle","side":1}]}`, []Fault{fault("/shapes/0/side", "unknown"), fault("/shapes/0/radius", "required")}},
		{`{"shapes":[{"kind":"circle","radius":1,"kind":"square"}]}`, []Fault{fault("/shapes/0/kind", "duplicate")}},
		{`{"shapes":[7,null]}`, []Fault{fault("/shapes/0", "type"), fault("/shapes/1", "type")}},
		{`{"shapes":[{"kind":"circle","radius":-1}]}`, []Fault{fault("/shapes/0/radius", "minimum")}},
	}
	for _, test := range tests {
		checkDecode(t, s, test.data, test.want)
	}
	var d drawing
	if faults := s.Decode([]byte(tests[0].data), reflect.ValueOf(&d).Elem(), 0); faults != nil {
		t.Fatal(faults)
	}
	want := drawing{Shapes: []shape_{circle{Radius: 1}, &square{Side: 2}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	for name, value := range map[string]drawing{
		"nil in a list":         {Shapes: []shape_{nil}},
		"nil pointer":           {Shapes: []shape_{(*square)(nil)}},
		"pointer to a value":    {Shapes: []shape_{&circle{}}},
		"a nil field is absent": {Shapes: []shape_{}, Main: nil},
	} {
		faults := s.CheckValue(reflect.ValueOf(&value).Elem())
		if (faults == nil) != (name == "a nil field is absent") {
			t.Errorf("%s: got %v", name, faults)
		}
	}
}

func TestUnionMistakes(t *testing.T) {
	t.Parallel()
	type clash struct {
		circle
		Kind string `json:"kind"`
	}
	tests := []struct {
		union Union
		want  string
	}{
		{Union{}, "is empty"},
		{OneOf("kind", Variants[any]{"a": 1}), "interface type with methods"},
		{OneOf("", Variants[shape_]{"a": circle{}}), "discriminator needs a name"},
		{OneOf("kind", Variants[shape_]{}), "no variants"},
		{OneOf("kind", Variants[shape_]{"a": nil}), "needs a name and a value"},
		{OneOf("kind", Variants[shape_]{"a": circle{}, "b": circle{}}), "its own type"},
		{OneOf("kind", Variants[shape_]{"a": clash{}}), "taken by the discriminator"},
	}
	for _, test := range tests {
		_, err := For[shape_](Options{Unions: []Union{test.union}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("want an error with %q, got %v", test.want, err)
		}
	}
	if _, err := For[shape_](Options{}); err == nil || !strings.Contains(err.Error(), "schema.OneOf") {
		t.Errorf("want an error with the cure, got %v", err)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	type inner struct {
		Level int  `json:"level" default:"3" minimum:"1"`
		Deep  *int `json:"deep" default:"9"`
	}
	type outer struct {
		Count  int              `json:"count" default:"10" minimum:"1"`
		Kind   string           `json:"kind" default:"a" enum:"a,b"`
		On     *bool            `json:"on" default:"true"`
		Tags   []string         `json:"tags" default:"[\"x\"]" minItems:"1"`
		Inner  *inner           `json:"inner" default:"{}"`
		Inners []inner          `json:"inners,omitempty"`
		Named  map[string]inner `json:"named,omitempty"`
		Free   *string          `json:"free"`
	}
	s := mustFor[outer](t)
	want := outer{
		Count: 10, Kind: "a", On: new(true), Tags: []string{"x"}, Inner: &inner{Level: 3, Deep: new(9)},
		Inners: []inner{{Level: 3, Deep: new(9)}, {Level: 5, Deep: new(0)}},
		Named:  map[string]inner{"a": {Level: 3, Deep: new(9)}},
	}
	var decoded outer
	if faults := s.Decode([]byte(`{"inners":[{},{"level":5,"deep":0}],"named":{"a":{}}}`), reflect.ValueOf(&decoded).Elem(), 0); faults != nil {
		t.Fatal(faults)
	}
	if diff := cmp.Diff(want, decoded); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	completed := outer{Inners: []inner{{}, {Level: 5, Deep: new(0)}}, Named: map[string]inner{"a": {}}}
	s.Complete(reflect.ValueOf(&completed).Elem())
	if diff := cmp.Diff(want, completed); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
	decoded.Tags[0] = "changed"
	*decoded.Inner.Deep = 1
	var second outer
	s.Decode([]byte(`{}`), reflect.ValueOf(&second).Elem(), 0)
	if second.Tags[0] != "x" || *second.Inner.Deep != 9 {
		t.Error("two values share what a default refers to")
	}
	if out, faults := s.Append(nil, reflect.ValueOf(&outer{}).Elem()); faults != nil || string(out) != "{}" {
		t.Errorf("a zero value with defaults: want {}, got %s %v", out, faults)
	}
}

// TestCompleteKeepsWhatOthersHold fills defaults into a value and leaves alone all that it refers
// to, which the one who made it may still read and write.
func TestCompleteKeepsWhatOthersHold(t *testing.T) {
	t.Parallel()
	type item struct {
		Count int `json:"count" default:"7" minimum:"1"`
	}
	type order struct {
		Named   map[string]item    `json:"named,omitempty"`
		List    []item             `json:"list,omitempty"`
		Pointer *item              `json:"pointer,omitempty"`
		Deep    map[string][]*item `json:"deep,omitempty"`
	}
	orderOf := func(count int) order {
		return order{
			Named: map[string]item{"a": {count}}, List: []item{{count}}, Pointer: &item{count},
			Deep: map[string][]*item{"a": {{count}}},
		}
	}
	s := mustFor[order](t)
	given := orderOf(0)
	completed := given
	s.Complete(reflect.ValueOf(&completed).Elem())
	if diff := cmp.Diff(orderOf(7), completed); diff != "" {
		t.Errorf("completed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(orderOf(0), given); diff != "" {
		t.Errorf("what the caller holds (-want +got):\n%s", diff)
	}
}

// TestReuse shows that nothing of an earlier value survives in a later one.
func TestReuse(t *testing.T) {
	t.Parallel()
	s := mustFor[account](t)
	var a account
	dst := reflect.ValueOf(&a).Elem()
	data := []byte(`{"name":"ann","password":"12345678","raw":[1],"labels":{"a":"b"},"unique":[1]}`)
	if faults := s.Decode(data, dst, 0); faults != nil {
		t.Fatal(faults)
	}
	first := a
	for i := range data {
		data[i] = 'x'
	}
	if faults := s.Decode([]byte(`{"name":"bob","password":"87654321"}`), dst, 0); faults != nil {
		t.Fatal(faults)
	}
	want := account{Name: "ann", Password: "12345678", Raw: json.RawMessage("[1]"), Labels: map[string]string{"a": "b"}, Unique: []int{1}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("the first value changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(account{Name: "bob", Password: "87654321"}, a); diff != "" {
		t.Errorf("second value (-want +got):\n%s", diff)
	}
}
