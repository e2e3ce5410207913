package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{``, "not JSON"},
		{`{"type":"object"`, "not JSON"},
		{`[]`, `must be an object, true or false`},
		{`{"properties":{"a":5}}`, `at "/properties/a": a schema must be an object`},
		{`{"typ":"string"}`, `at "": typ: is not a keyword`},
		{`{"properties":{"a":{"minlength":1}}}`, `at "/properties/a": minlength: is not a keyword of JSON Schema 2020-12; use "minLength"`},
		{`{"definitions":{}}`, `use "$defs"`},
		{`{"nullable":true}`, `use "anyOf"`},
		{`{"x-internal":true}`, `remove it`},
		{`{"type":"text"}`, `"text" is not a type`},
		{`{"type":["string","string"]}`, `type: must be the name of a type or an array`},
		{`{"type":7}`, `type: must be`},
		{`{"minLength":-1}`, `minLength: must be a whole number`},
		{`{"minLength":1.5}`, `minLength: must be a whole number`},
		{`{"minLength":"3"}`, `minLength: must be a whole number`},
		{`{"minimum":"3"}`, `minimum: must be a number`},
		{`{"multipleOf":0}`, `greater than 0`},
		{`{"multipleOf":0.1234567890123456789}`, `at most 18 digits`},
		{`{"required":"a"}`, `required: must be an array of different strings`},
		{`{"required":["a","a"]}`, `required: must be an array of different strings`},
		{`{"enum":"a"}`, `enum: must be an array`},
		{`{"pattern":"(?<=a)b"}`, `RE2`},
		{`{"patternProperties":{"(?=a)":{}}}`, `RE2`},
		{`{"format":"mail"}`, `format: "mail" is not a format`},
		{`{"uniqueItems":1}`, `uniqueItems: must be true or false`},
		{`{"items":[{}]}`, `at "/items": a schema must be an object`},
		{`{"anyOf":[]}`, `anyOf: must be an array of schemas and not empty`},
		{`{"$ref":"https://example.com/x"}`, `leads outside`},
		{`{"properties":{"a":{"$ref":"other.json#/x"}}}`, `at "/properties/a": $ref: leads outside`},
		{`{"$dynamicRef":"http://example.com/x#y"}`, `leads outside`},
		{`{"$ref":"#/$defs/x"}`, `leads to nothing`},
		{`{"$ref":"#nowhere"}`, `nowhere`},
		{`{"$ref":"#"}`, `refers to itself`},
		{`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `refers to itself`},
		{`{"allOf":[{"$ref":"#"}]}`, `refers to itself`},
		{`{"$vocabulary":{}}`, `vocabularies`},
		{`{"$schema":"http://localhost:1234/draft2020-12/metaschema-no-validation.json"}`, `only https://json-schema.org/draft/2020-12/schema`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, `only https://json-schema.org/draft/2020-12/schema`},
		{`{"type":"object","type":"array"}`, `is there twice`},
		{`{"properties":{"a":{},"a":{}}}`, `is there twice`},
		{`{"properties":{"p":{"writeOnly":true,"default":"x"}}}`, `at "/properties/p": default: a secret has none`},
		{`{"allOf":[{"properties":{"p":{"writeOnly":true}}}]}`, `a secret must stand under`},
		// From unknownKeyword.json of the official suite, which asks for keywords to be ignored.
		{`{"$defs":{"id_in_unknown0":{"not":{"array_of_schemas":[{"$id":"https://localhost:1234/unknownKeyword/my_identifier.json","type":"null"}]}}}}`, `array_of_schemas: is not a keyword`},
	}
	for _, test := range tests {
		if _, err := Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s:\nwant an error with %q\ngot %v", test.text, test.want, err)
		}
	}
}

func TestParsedFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		schema, data string
		want         []Fault
	}{
		{`{"type":["string","null"]}`, `5`, []Fault{fault("", "type")}},
		{`{"anyOf":[{"type":"string","minLength":2},{"type":"null"}]}`, `"a"`, []Fault{fault("", "minLength")}},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `1.5`, []Fault{fault("", "type")}},
		{
			`{"anyOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`,
			`{"n":"x","k":"a"}`,
			[]Fault{fault("/n", "type")},
		},
		{
			`{"anyOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}]}`,
			`{"k":"c"}`,
			[]Fault{fault("/k", "enum")},
		},
		{`{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, []Fault{fault("/a", "not")}},
		{`{"properties":{"a":{"anyOf":[{"minLength":3},{"pattern":"^x"}]}}}`, `{"a":"b"}`, []Fault{fault("/a", "anyOf")}},
		{`{"allOf":[{"required":["a"]},{"properties":{"b":{"minimum":5}}}]}`, `{"b":1}`, []Fault{fault("", "required"), fault("/b", "minimum")}},
		{`{"prefixItems":[{"type":"string"},{"type":"integer"}]}`, `["a","b"]`, []Fault{fault("/1", "type")}},
		{`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`, `{"x1":1,"y":1}`, []Fault{fault("", "additionalProperties")}},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []Fault{fault("", "dependentRequired")}},
		{`{"format":"duration"}`, `"later"`, []Fault{fault("", "format")}},
		{`{"format":"date"}`, `"2026-02-30"`, []Fault{fault("", "format")}},
		{`{"additionalProperties":false,"required":["a"]}`, `{"a":1}`, []Fault{fault("/a", "false")}},
		{`{"additionalProperties":{"type":"string"}}`, `{"a":1}`, []Fault{fault("/a", "type")}},
		{`{"minProperties":2}`, `{"a":1}`, []Fault{fault("", "minProperties")}},
		{`{"items":{"multipleOf":0.01}}`, `[0.1,0.015]`, []Fault{fault("/1", "multipleOf")}},
		{`{"const":{"a":[1.0,"x"]}}`, `{"a":[1,"\u0078"]}`, nil},
		{`{"const":"a","enum":["a","b"]}`, `"b"`, []Fault{fault("", "const")}},
		{`{"enum":["a","b"],"const":"c"}`, `"c"`, []Fault{fault("", "const")}},
		{`{"enum":["a",1.0],"const":1}`, `1`, nil},
		{`{"enum":[[1],null]}`, `[2]`, []Fault{fault("", "enum")}},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2.0,"a":1}]`, []Fault{fault("/1", "uniqueItems")}},
		{`{}`, `{"a":1,"a":2}`, []Fault{fault("/a", "duplicate")}},
		{`true`, `[1e400]`, nil},
		{`false`, `1`, []Fault{fault("", "false")}},
		{`{"allOf":[{"minimum":1}]}`, `1e999999999`, []Fault{fault("", "budget")}},
		{`{"properties":{"name":{"type":"string"}}}`, `{"Name":5}`, nil},
	}
	for _, test := range tests {
		s, err := Parse([]byte(test.schema))
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		faults := s.Check([]byte(test.data), 0)
		bare := []Fault{}
		for _, f := range faults {
			bare = append(bare, Fault{Pointer: f.Pointer, Rule: f.Rule})
			if f.Message == "" {
				t.Errorf("%s: a fault without message", test.schema)
			}
		}
		if diff := cmp.Diff(append([]Fault{}, test.want...), bare); diff != "" {
			t.Errorf("%s with %s (-want +got):\n%s%+v", test.schema, test.data, diff, faults)
		}
	}
}

func TestParsedDefaults(t *testing.T) {
	t.Parallel()
	const text = `{
		"type": "object",
		"properties": {
			"n": {"type": "integer", "default": 5},
			"o": {"type": "object", "properties": {"p": {"default": [1]}, "q": {}}, "default": {}},
			"bad": {"type": "string", "default": 7},
			"must": {"default": 1}
		},
		"required": ["must"],
		"maxProperties": 4
	}`
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !s.IsObject() {
		t.Error("want IsObject")
	}
	tests := []struct{ data, want string }{
		{`{"must":2}`, `{"must":2,"n":5,"o":{"p":[1]}}`},
		{` { "must" : 2 , "o":{} } `, `{ "must" : 2 , "o":{"p":[1]},"n":5 }`},
		{`{"n":6,"o":{"q":1,"p":2},"must":3}`, `{"n":6,"o":{"q":1,"p":2},"must":3}`},
		{`{}`, ``},
		{`{"must":1,"x":1,"y":1}`, `{"must":1,"x":1,"y":1,"n":5,"o":{"p":[1]}}`},
	}
	for _, test := range tests {
		var raw json.RawMessage
		data := []byte(test.data)
		faults := s.Decode(data, reflect.ValueOf(&raw).Elem(), 0)
		if (faults == nil) != (s.Check(data, 0) == nil) {
			t.Errorf("%s: Decode says %v, Check the opposite", test.data, faults)
		}
		clear(data)
		if strings.Contains(test.data, "y") {
			if faults == nil || faults[0].Rule != "maxProperties" {
				t.Errorf("%s: defaults count as members, want maxProperties, got %v", test.data, faults)
			}
			continue
		}
		if test.want == "" {
			if faults == nil {
				t.Errorf("%s: want faults", test.data)
			}
			continue
		}
		if faults != nil || string(raw) != test.want {
			t.Errorf("%s: want %s, got %s %v", test.data, test.want, raw, faults)
		}
	}
	value := json.RawMessage(`{"must":1}`)
	if out, faults := s.Append(nil, reflect.ValueOf(value)); faults != nil || string(out) != `{"must":1}` {
		t.Errorf("Append: got %s %v", out, faults)
	}
}

// TestT26_Budget shows that a schema whose work explodes ends as a fault.
func TestT26_Budget(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"$defs":{"n":{"type":"array","items":{"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}}},"$ref":"#/$defs/n"}`))
	if err != nil {
		t.Fatal(err)
	}
	if faults := s.Check([]byte(`[[[]]]`), 0); faults != nil {
		t.Errorf("want no faults, got %v", faults)
	}
	deep := strings.Repeat("[", 60) + strings.Repeat("]", 60)
	for range 2 {
		faults := s.Check([]byte(deep), 0)
		if len(faults) != 1 || faults[0].Rule != "budget" {
			t.Errorf("want one fault of rule budget, got %v", faults)
		}
	}
}

// TestT26_BudgetOfLongTexts shows that a long text ends as a fault before it costs memory, and
// that the tree alone has no such limit.
func TestT26_BudgetOfLongTexts(t *testing.T) {
	t.Parallel()
	long := []byte("[" + strings.Repeat("1,", 200_000) + "1]")
	for text, want := range map[string]string{
		`{"prefixItems":[{}],"items":{"type":"string"}}`: "budget",
		`{"items":{"type":"integer"}}`:                   "",
	} {
		s, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rule := ""
		if faults := s.Check(long, 0); faults != nil {
			rule = faults[0].Rule
		}
		if rule != want {
			t.Errorf("%s: want rule %q, got %q", text, want, rule)
		}
	}
}

func TestSecretsInTexts(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"type":"object","properties":{"p":{"type":"string","maxLength":3,"writeOnly":true},"l":{"items":{"writeOnly":true,"enum":["a"]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !s.HasSecret() {
		t.Error("want HasSecret")
	}
	text, err := json.Marshal(s.Check([]byte(`{"p":"canary","l":["canary",{"canary":5}]}`), 0))
	if err != nil || strings.Contains(string(text), "canary") || !strings.Contains(string(text), "maxLength") {
		t.Errorf("want faults without the value, got %s", text)
	}
	const data = `{"p":"canary","l":["canary"],"open":1}`
	if got, want := string(s.Redact(nil, []byte(data))), `{"p":"(secret)","l":["(secret)"],"open":1}`; got != want {
		t.Errorf("Redact: want %s, got %s", want, got)
	}
}

// One schema may stand at several places. At those that the tree does not see
// nothing would hide a secret, so that a text that puts one there is refused.
func TestT09_SecretAtEveryPlace(t *testing.T) {
	t.Parallel()
	const def = `"$defs":{"s":{"type":"string","writeOnly":true,"$anchor":"s"}}`
	tests := []struct {
		name, text string
		refused    bool
	}{
		{"in allOf", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"allOf":[{"$ref":"#/$defs/s"}]}},` + def + `}`, true},
		{"a reference with a demand beside it", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#/$defs/s","minLength":1}},` + def + `}`, true},
		{"in patternProperties", `{"properties":{"a":{"$ref":"#/$defs/s"}},"patternProperties":{"^b":{"$ref":"#/$defs/s"}},` + def + `}`, true},
		{"in prefixItems", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"prefixItems":[{"$ref":"#/$defs/s"}]}},` + def + `}`, true},
		{"by its anchor", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"$ref":"#s"}},` + def + `}`, true},
		{"below then", `{"properties":{"a":{"$ref":"#/$defs/s"},"b":{"if":{"type":"object"},"then":{"properties":{"c":{"$ref":"#/$defs/s"}}}}},` + def + `}`, true},
		{"beside an allOf without one", `{"type":"object","properties":{"s":{"type":"string","writeOnly":true}},"allOf":[{"required":["s"]}]}`, false},
		{"a branch", `{"type":"object","properties":{"s":{"anyOf":[{"type":"string","writeOnly":true},{"type":"null"}]}}}`, false},
		{"items and additionalProperties", `{"type":"object","properties":{"l":{"type":"array","items":{"$ref":"#/$defs/s"}}},"additionalProperties":{"$ref":"#/$defs/s"},` + def + `}`, false},
	}
	for _, test := range tests {
		if _, err := Parse([]byte(test.text)); (err != nil) != test.refused {
			t.Errorf("%s: want refused %v, got %v", test.name, test.refused, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range suiteFiles(f) {
		for _, g := range readSuite(f, path) {
			f.Add([]byte(g.Schema), []byte(g.Tests[0].Data))
		}
	}
	f.Fuzz(func(t *testing.T, text, data []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(s.JSON()); err != nil || string(again.JSON()) != string(s.JSON()) {
			t.Errorf("the published form differs from the text: %v", err)
		}
		var raw json.RawMessage
		checked, decoded := s.Check(data, 0), s.Decode(data, reflect.ValueOf(&raw).Elem(), 0)
		if diff := cmp.Diff(checked, decoded); diff != "" {
			t.Errorf("Decode differs from Check:\n%s", diff)
		}
		if decoded == nil && !json.Valid(raw) {
			t.Errorf("Decode gave %s", raw)
		}
		if changes := Compare(s, s, Input); changes != nil {
			t.Errorf("a schema differs from itself: %v", changes)
		}
	})
}
