package schema_test

import (
	"fmt"
	"reflect"

	"github.com/ambit-dev/ambit/schema"
)

type Note struct {
	Title string   `json:"title" doc:"One line" minLength:"1" maxLength:"80"`
	Kind  string   `json:"kind" enum:"memo,task" default:"memo"`
	Tags  []string `json:"tags,omitempty" maxItems:"5" pattern:"^[a-z]+$"`
}

func Example() {
	s, err := schema.For[Note](schema.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var n Note
	faults := s.Decode([]byte(`{"title": "Milk", "tags": ["home"]}`), reflect.ValueOf(&n).Elem(), 0)
	fmt.Println(len(faults), n)

	for _, f := range s.Check([]byte(`{"titel": "Milk", "kind": "chore", "tags": ["Home"]}`), 0) {
		fmt.Println(f.Pointer, f.Rule, f.Message, f.Allowed)
	}
	// Output:
	// 0 {Milk memo [home]}
	// /titel unknown the key is not known here; did you mean "title"? []
	// /kind enum must be one of the allowed values, not "chore" [memo task]
	// /tags/0 pattern must match the pattern ^[a-z]+$, not "Home" []
	// /title required is required; add it []
}

func ExampleSchema_JSON() {
	s, err := schema.For[struct {
		Name string `json:"name" doc:"Whom to greet" minLength:"1"`
	}](schema.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(s.JSON()))
	// Output:
	// {"type":"object","properties":{"name":{"description":"Whom to greet","type":"string","minLength":1}},"required":["name"],"additionalProperties":false}
}

func ExampleParse() {
	s, err := schema.Parse([]byte(`{
		"type": "object",
		"properties": {"from": {"type": "integer"}, "to": {"type": "integer"}},
		"dependentRequired": {"to": ["from"]}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Check([]byte(`{"from": 1, "to": 2}`), 0) == nil)
	fmt.Println(s.Check([]byte(`{"to": 2}`), 0)[0].Rule)

	_, err = schema.Parse([]byte(`{"properties": {"from": {"minimun": 1}}}`))
	fmt.Println(err)
	// Output:
	// true
	// dependentRequired
	// schema: at "/properties/from": minimun: is not a keyword of JSON Schema 2020-12; use "minimum"
}

type Target interface{ target() }

type Person struct {
	Email string `json:"email" format:"email"`
}

type Team struct {
	ID int `json:"id" minimum:"1"`
}

func (Person) target() {}
func (*Team) target()  {}

func ExampleOneOf() {
	type share struct {
		With Target `json:"with"`
	}
	s, err := schema.For[share](schema.Options{Unions: []schema.Union{
		schema.OneOf("kind", schema.Variants[Target]{"person": Person{}, "team": &Team{}}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var in share
	faults := s.Decode([]byte(`{"with": {"kind": "team", "id": 7}}`), reflect.ValueOf(&in).Elem(), 0)
	fmt.Println(len(faults), in.With.(*Team).ID)

	out, _ := s.Append(nil, reflect.ValueOf(&share{With: Person{Email: "ann@example.com"}}).Elem())
	fmt.Println(string(out))
	// Output:
	// 0 7
	// {"with":{"kind":"person","email":"ann@example.com"}}
}

func ExampleSchema_Complete() {
	s, err := schema.For[Note](schema.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n := Note{Title: "Milk"}
	v := reflect.ValueOf(&n).Elem()
	s.Complete(v)
	fmt.Println(n.Kind, s.CheckValue(v) == nil)
	// Output:
	// memo true
}

func ExampleCompare() {
	older, _ := schema.Parse([]byte(`{"properties": {"limit": {"type": "integer", "maximum": 50}}}`))
	newer, _ := schema.Parse([]byte(`{"properties": {"limit": {"type": "integer", "maximum": 500}}}`))
	for _, c := range schema.Compare(older, newer, schema.Input) {
		fmt.Println(c.Pointer, c.Rule, c.Effect, c.Message)
	}
	// Output:
	// /properties/limit maximum widens was 50, is 500 now
}
