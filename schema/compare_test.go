package schema

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, older, newer string
		output             bool
		want               []string
	}{
		{"same", `{"type":"object"}`, `{ "type" : "object" }`, false, nil},
		{"type added", `{"type":"string"}`, `{"type":["string","null"]}`, false, []string{`"" type widens`}},
		{"type removed", `{"type":["string","null"]}`, `{"type":"string"}`, false, []string{`"" type narrows`}},
		{"type exchanged", `{"type":"string"}`, `{"type":"integer"}`, false, []string{`"" type widens`, `"" type narrows`}},
		{"integer to number", `{"type":"integer"}`, `{"type":"number"}`, false, []string{`"" type widens`}},
		{"number to integer", `{"type":"number"}`, `{"type":"integer"}`, false, []string{`"" type narrows`}},
		{"nullable", `{"type":"string"}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, false, []string{`"" type widens`}},
		{"enum grows", `{"enum":["a","b"]}`, `{"enum":["b","c"]}`, false, []string{`"" enum widens`, `"" enum narrows`}},
		{"enum with null", `{"enum":["a",null]}`, `{"enum":["a"]}`, false, []string{`"" enum narrows`}},
		{"enum respelled", `{"enum":[1,"a"]}`, `{"enum":["\u0061",1.0]}`, false, nil},
		{"enum dropped", `{"type":"string","enum":["a"]}`, `{"type":"string"}`, false, []string{`"" enum widens`}},
		{"const", `{"type":"string"}`, `{"type":"string","const":"a"}`, false, []string{`"" const narrows`}},
		{"minLength", `{"type":"string","minLength":1}`, `{"type":"string","minLength":2}`, false, []string{`"" minLength narrows`}},
		{"maxLength", `{"type":"string","maxLength":1}`, `{"type":"string","maxLength":2}`, false, []string{`"" maxLength widens`}},
		{"maxLength dropped", `{"type":"string","maxLength":1}`, `{"type":"string"}`, false, []string{`"" maxLength widens`}},
		{"maxLength added", `{"type":"string"}`, `{"type":"string","maxLength":1}`, false, []string{`"" maxLength narrows`}},
		{"pattern changed", `{"type":"string","pattern":"a"}`, `{"type":"string","pattern":"b"}`, false, []string{`"" pattern widens`}},
		{"format added", `{"type":"string"}`, `{"type":"string","format":"uuid"}`, false, []string{`"" format narrows`}},
		{"minimum", `{"minimum":1}`, `{"minimum":1.0}`, false, nil},
		{"minimum lowered", `{"type":"number","minimum":1}`, `{"type":"number","minimum":-1}`, false, []string{`"" minimum widens`}},
		{"maximum lowered", `{"type":"number","maximum":1}`, `{"type":"number","maximum":0.5}`, false, []string{`"" maximum narrows`}},
		{"multipleOf tightened", `{"type":"integer","multipleOf":2}`, `{"type":"integer","multipleOf":4}`, false, []string{`"" multipleOf narrows`}},
		{"multipleOf changed", `{"type":"integer","multipleOf":2}`, `{"type":"integer","multipleOf":3}`, false, []string{`"" multipleOf widens`}},
		{"items", `{"items":{"type":"string"}}`, `{"items":{"type":"string","maxLength":2},"uniqueItems":true,"maxItems":3}`, false, []string{`"/items" maxLength narrows`, `"" maxItems narrows`, `"" uniqueItems narrows`}},
		{
			"property added to a closed object", `{"type":"object","additionalProperties":false}`,
			`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`, false,
			[]string{`"/properties/a" properties widens`, `"/properties/a" required narrows`},
		},
		{"property added to an open object", `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, false, []string{`"/properties/a" properties narrows`}},
		{"property added to an open output", `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, true, []string{`"/properties/a" properties widens`}},
		{
			"property removed", `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","additionalProperties":false}`, false,
			[]string{`"/properties/a" properties narrows`, `"/properties/a" required widens`},
		},
		{"opened", `{"type":"object","additionalProperties":false}`, `{"type":"object"}`, false, []string{`"" additionalProperties widens`}},
		{"others limited", `{"type":"object"}`, `{"type":"object","additionalProperties":{"type":"string"}}`, false, []string{`"/additionalProperties" type narrows`}},
		{
			"default changed", `{"properties":{"a":{"type":"integer","default":1}}}`, `{"properties":{"a":{"type":"integer","default":2}}}`, false,
			[]string{`"/properties/a" default widens`},
		},
		{
			"default of an output", `{"properties":{"a":{"type":"integer","default":1}}}`, `{"properties":{"a":{"type":"integer"}}}`, true,
			[]string{`"/properties/a" default neutral`},
		},
		{"secret dropped", `{"properties":{"a":{"writeOnly":true}}}`, `{"properties":{"a":{}}}`, false, []string{`"/properties/a" writeOnly widens`}},
		{"reworded", `{"properties":{"a":{"description":"x","title":"t"}}}`, `{"properties":{"a":{"description":"y"}}}`, false, []string{`"/properties/a" title neutral`, `"/properties/a" description neutral`}},
		{
			"variant added",
			`{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]}]}`,
			`{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"string"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`, false,
			[]string{`"/anyOf/0/properties/n" properties narrows`, `"/anyOf/1" anyOf widens`},
		},
		{"beyond the tree", `{"not":{"type":"string"}}`, `{"not":{"type":"integer"}}`, false, []string{`"" schema widens`}},
		{"beside what is beyond the tree", `{"not":{"type":"string"},"maximum":3}`, `{"not":{"type":"string","title":"t"},"maximum":2}`, false, []string{`"" maximum narrows`}},
		{"recursion", `{"properties":{"a":{"$ref":"#"},"b":{"maximum":1}}}`, `{"properties":{"a":{"$ref":"#"},"b":{"maximum":2}}}`, false, []string{`"/properties/b" maximum widens`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			older, err := Parse([]byte(test.older))
			if err != nil {
				t.Fatal(err)
			}
			newer, err := Parse([]byte(test.newer))
			if err != nil {
				t.Fatal(err)
			}
			d := Input
			if test.output {
				d = Output
			}
			var got []string
			for _, c := range Compare(older, newer, d) {
				got = append(got, fmt.Sprintf("%q %s %s", c.Pointer, c.Rule, c.Effect))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompareGoTypes shows that a Go type and its published form do not differ, and that a
// field added to a struct is seen.
func TestCompareGoTypes(t *testing.T) {
	t.Parallel()
	s := mustFor[order](t)
	parsed, err := Parse(s.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if changes := Compare(s, parsed, Input); changes != nil {
		t.Errorf("want no changes, got %+v", changes)
	}
	type before struct {
		A string `json:"a"`
	}
	type after struct {
		A string `json:"a"`
		B *int   `json:"b" doc:"new"`
	}
	want := []Change{{Pointer: "/properties/b", Rule: "properties", Message: "was added", Effect: Widens}}
	if diff := cmp.Diff(want, Compare(mustFor[before](t), mustFor[after](t), Output)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestCompareFindsWidening draws two schemas and a value that only the newer accepts: then some
// change must widen.
func TestCompareFindsWidening(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.Bool().Draw(t, "wild")
		older, err := Parse([]byte(drawSchema(t, 2, wild)))
		if err != nil {
			t.Fatal(err)
		}
		newer, err := Parse([]byte(drawSchema(t, 2, wild)))
		if err != nil {
			t.Fatal(err)
		}
		effects := map[Effect]bool{}
		for _, c := range Compare(older, newer, Input) {
			effects[c.Effect] = true
		}
		for range 8 {
			data := []byte(drawValue(t, 2))
			before, after := older.Check(data, 0) == nil, newer.Check(data, 0) == nil
			if after && !before && !effects[Widens] {
				t.Fatalf("%s passes now, and no change widens\nolder %s\nnewer %s", data, older.JSON(), newer.JSON())
			}
			if before && !after && !effects[Narrows] && !effects[Widens] {
				t.Fatalf("%s passes no longer, and there is no change\nolder %s\nnewer %s", data, older.JSON(), newer.JSON())
			}
		}
	})
}
