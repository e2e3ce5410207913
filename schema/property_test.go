package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// oracle compiles a schema text with the complete validator alone.
func oracle(t rapid.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("schema:///", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema:///")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func oracleAccepts(t rapid.TB, s *jsonschema.Schema, data []byte) bool {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value) == nil
}

// drawValue draws a JSON text from a small world, in which schemas and values often meet.
func drawValue(t *rapid.T, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 8
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return "null"
	case 1:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case 2, 3:
		return drawNumber(t)
	case 4:
		return drawString(t)
	case 5:
		n := rapid.IntRange(0, 4).Draw(t, "items")
		items := make([]string, n)
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return drawObject(t, func(string) string { return drawValue(t, depth-1) })
}

func drawNumber(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"0", "-0", "1", "-1", "2", "3", "10", "100", "1.0", "1.5", "0.1", "-2.50", "1e1", "2.5e1", "1E-1", "300e-2",
		"9007199254740993", "9007199254740993.0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"123456789012345678901234567890", "1e30", "1.5e-30",
	}).Draw(t, "number")
}

func drawString(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`""`, `"a"`, `"ab"`, `"abc"`, `"\u0061"`, `"😀"`, `"\ud83d\ude00é"`, `"x-1"`, `"2026-01-02"`, `"2026-01-02T03:04:05Z"`,
		`"12:30:00Z"`, `"a@example.com"`, `"a.example"`, `"127.0.0.1"`, `"::1"`, `"https://a.example/b?c"`, `"/a~0b"`,
		`"123e4567-e89b-12d3-a456-426614174000"`, `"~"`, `"1.2.3"`, `"2026-13-01"`,
	}).Draw(t, "string")
}

func drawObject(t *rapid.T, value func(key string) string) string {
	var members []string
	for _, key := range []string{"a", "b", "kind", "é/~"} {
		if rapid.Bool().Draw(t, "has "+key) {
			quoted, _ := json.Marshal(key)
			members = append(members, string(quoted)+": "+value(key))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// drawSchema draws a schema text. With wild, keywords beyond the tree are among them.
func drawSchema(t *rapid.T, depth int, wild bool) string {
	if depth == 0 {
		return drawLeaf(t)
	}
	sub := func(string) string { return drawSchema(t, depth-1, wild) }
	top := 6
	if wild {
		top = 9
	}
	switch rapid.IntRange(0, top).Draw(t, "schema") {
	case 0:
		return rapid.SampledFrom([]string{"true", "false", "{}"}).Draw(t, "boolean")
	case 1, 2:
		return drawLeaf(t)
	case 3:
		text := `{"type":"array","items":` + sub("")
		if rapid.Bool().Draw(t, "sizes") {
			text += `,"minItems":1,"maxItems":3`
		}
		if rapid.Bool().Draw(t, "unique") {
			text += `,"uniqueItems":true`
		}
		return text + "}"
	case 4, 5:
		text := `{"properties":` + drawObject(t, sub)
		text += rapid.SampledFrom([]string{"", `,"additionalProperties":false`, `,"additionalProperties":{"type":"integer"}`, `,"additionalProperties":true`}).Draw(t, "others")
		text += rapid.SampledFrom([]string{"", `,"required":["a"]`, `,"required":["kind","b"]`, `,"minProperties":1`, `,"maxProperties":2`}).Draw(t, "required")
		return text + rapid.SampledFrom([]string{"", `,"type":"object"`, `,"type":["object","null"]`}).Draw(t, "type") + "}"
	case 6:
		return drawChoice(t, sub)
	case 7:
		return `{"allOf":[` + sub("") + "," + sub("") + "]}"
	case 8:
		return `{"not":` + sub("") + `,"anyOf":[` + sub("") + "," + sub("") + "]}"
	}
	return `{"prefixItems":[` + sub("") + `],"items":` + sub("") + `,"patternProperties":{"^a":` + sub("") + `},"additionalProperties":` + sub("") + "}"
}

func drawChoice(t *rapid.T, sub func(string) string) string {
	keyword := rapid.SampledFrom([]string{"anyOf", "oneOf"}).Draw(t, "choice")
	variant := func(name string) string {
		return `{"type":"object","properties":{"kind":{"const":"` + name + `"},"b":` + sub("") + `},"required":["kind"]}`
	}
	switch rapid.IntRange(0, 2).Draw(t, "choice kind") {
	case 0:
		return `{"` + keyword + `":[` + variant("a") + "," + variant("ab") + "]}"
	case 1:
		return `{"` + keyword + `":[{"type":"null"},{"type":"string","minLength":2},{"type":["integer","boolean"],"maximum":2}]}`
	}
	return `{"type":["object","string"],"` + keyword + `":[{"type":"string"},{"type":"object","required":["a"]}]}`
}

func drawLeaf(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		`{"type":"string"}`, `{"minLength":1,"maxLength":2}`, `{"type":"string","pattern":"^[a-z]+$"}`,
		`{"type":"integer"}`, `{"type":"number","minimum":-1,"exclusiveMaximum":10}`, `{"exclusiveMinimum":0.1,"maximum":1e2}`,
		`{"type":"integer","maximum":9007199254740993}`, `{"minimum":9223372036854775807.5}`, `{"multipleOf":0.1}`,
		`{"type":"integer","multipleOf":5}`, `{"multipleOf":1.5e-30}`, `{"type":"boolean"}`, `{"type":"null"}`,
		`{"type":["string","null"]}`, `{"enum":["a",1,null,[1],{"a":1.0}]}`, `{"const":1}`, `{"const":"\u0061"}`,
		`{"enum":[true,1.5,"ab"],"type":["string","number"]}`, `{"format":"date"}`, `{"format":"date-time"}`, `{"format":"uuid"}`,
		`{"format":"email"}`, `{"format":"ipv4"}`, `{"format":"ipv6"}`, `{"format":"json-pointer"}`, `{"format":"hostname"}`,
	}).Draw(t, "leaf")
}

// differ is the property that the tree and the complete validator agree.
func differ(t *rapid.T) {
	wild := rapid.Bool().Draw(t, "wild")
	text := []byte(drawSchema(t, 3, wild))
	if !json.Valid(text) {
		t.Fatalf("bad generator: %s", text)
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	other := oracle(t, text)
	for range 4 {
		data := []byte(drawValue(t, 3))
		faults := s.Check(data, 0)
		if want := oracleAccepts(t, other, data); (faults == nil) != want {
			t.Fatalf("want accepted %v, got faults %+v\nschema %s\ndata %s", want, faults, text, data)
		}
		var raw json.RawMessage
		decoded := s.Decode(data, reflect.ValueOf(&raw).Elem(), 0)
		if !reflect.DeepEqual(decoded, faults) {
			t.Fatalf("Decode says %+v, Check %+v", decoded, faults)
		}
		if appended, faults := s.Append(nil, reflect.ValueOf(json.RawMessage(data))); (faults == nil) != (decoded == nil) ||
			faults == nil && !bytes.Equal(appendKey(nil, appended), appendKey(nil, data)) {
			t.Fatalf("Append says %s %+v, Decode %+v", appended, faults, decoded)
		}
	}
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	rapid.Check(t, differ)
}

func FuzzDifferential(f *testing.F) { f.Fuzz(rapid.MakeFuzz(differ)) }

// subject covers the bindings whose published form says all that is checked.
type subject struct {
	Text    string            `json:"text" minLength:"1" maxLength:"3"`
	Choice  string            `json:"choice,omitempty" enum:"a,ab,abc"`
	Small   int8              `json:"small,omitempty" multipleOf:"2"`
	Real    float64           `json:"real,omitempty" minimum:"-1" exclusiveMaximum:"10"`
	List    []string          `json:"list,omitempty" maxItems:"2" pattern:"^[a-z]" uniqueItems:"true"`
	Fixed   [2]uint8          `json:"fixed,omitzero"`
	Map     map[string]bool   `json:"map,omitempty"`
	Nested  *subject          `json:"nested"`
	Null    *int8             `json:"null" nullable:"true" minimum:"1"`
	Nulls   []int8            `json:"nulls,omitempty" nullable:"true"`
	Shape   shape_            `json:"shape,omitempty"`
	Default int               `json:"default" default:"3" minimum:"1" maximum:"100"`
	Maps    map[string][]int8 `json:"maps,omitempty" maximum:"5"`
}

// drawSubject draws a text near to what subject accepts.
func drawSubject(t *rapid.T, depth int) string {
	values := map[string]func() string{
		"text":   func() string { return drawString(t) },
		"choice": func() string { return drawString(t) },
		"small":  func() string { return drawNumber(t) },
		"real":   func() string { return drawNumber(t) },
		"list":   func() string { return "[" + drawString(t) + "," + drawString(t) + "]" },
		"fixed":  func() string { return "[" + drawNumber(t) + "," + drawNumber(t) + "]" },
		"map":    func() string { return `{"a":true,"b":` + drawValue(t, 0) + "}" },
		"null":   func() string { return rapid.SampledFrom([]string{"null", "1", "0"}).Draw(t, "null") },
		"nulls":  func() string { return rapid.SampledFrom([]string{"null", "[]", "[1]", "[null]"}).Draw(t, "nulls") },
		"shape": func() string {
			return `{"kind":` + rapid.SampledFrom([]string{`"circle"`, `"square"`, `"line"`, "1"}).Draw(t, "kind") + `,` +
				rapid.SampledFrom([]string{`"radius":1`, `"side":2`}).Draw(t, "shape") + "}"
		},
		"default": func() string { return drawNumber(t) },
		"maps":    func() string { return `{"a":[` + drawNumber(t) + "]}" },
		"other":   func() string { return drawValue(t, 1) },
		"nested": func() string {
			if depth == 0 {
				return "null"
			}
			return drawSubject(t, depth-1)
		},
	}
	members := []string{`"text":"a"`}
	for _, name := range []string{"choice", "small", "real", "list", "fixed", "map", "null", "nulls", "shape", "default", "maps", "nested", "other"} {
		if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, values[name]()))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestGoTypesDifferential shows that a published form says what is checked, and that bytes and
// Go values are judged alike.
func TestGoTypesDifferential(t *testing.T) {
	t.Parallel()
	s := mustFor[subject](t, OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}}))
	other := oracle(t, s.JSON())
	parsed, err := Parse(s.JSON())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(drawSubject(t, 2))
		var v subject
		dst := reflect.ValueOf(&v).Elem()
		faults := s.Decode(data, dst, 0)
		if want := oracleAccepts(t, other, data); (faults == nil) != want {
			t.Fatalf("want accepted %v, got %+v\ndata %s", want, faults, data)
		}
		if again := parsed.Check(data, 0); (again == nil) != (faults == nil) {
			t.Fatalf("the parsed form says %+v, the type %+v\ndata %s", again, faults, data)
		}
		if faults != nil {
			return
		}
		if faults := s.CheckValue(dst); faults != nil {
			t.Fatalf("CheckValue: %+v\ndata %s", faults, data)
		}
		out, faults := s.Append(nil, dst)
		if faults != nil || s.Check(out, 0) != nil || !oracleAccepts(t, other, out) {
			t.Fatalf("Append: %+v\ndata %s\nout %s", faults, data, out)
		}
	})
}

// TestValuesDifferential draws Go values, most of them bad, and compares CheckValue with Check
// of what encoding would give.
func TestValuesDifferential(t *testing.T) {
	t.Parallel()
	s := mustFor[subject](t, OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}}))
	word := rapid.SampledFrom([]string{"", "a", "ab", "abc", "abcd", "é", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		v := subject{
			Text: word.Draw(t, "text"), Choice: word.Draw(t, "choice"), Small: rapid.Int8().Draw(t, "small"),
			Real: rapid.Float64Range(-3, 12).Draw(t, "real"), List: rapid.SliceOfN(word, 0, 3).Draw(t, "list"),
			Fixed: [2]uint8{rapid.Uint8().Draw(t, "fixed")}, Default: rapid.IntRange(-1, 101).Draw(t, "default"),
			Shape: rapid.SampledFrom([]shape_{nil, circle{1}, circle{-1}, &square{}, &square{Side: -1}}).Draw(t, "shape"),
			Nulls: rapid.SampledFrom([][]int8{nil, {}, {1}}).Draw(t, "nulls"),
		}
		if rapid.Bool().Draw(t, "null") {
			v.Null = new(rapid.Int8Range(0, 2).Draw(t, "null value"))
		}
		dst := reflect.ValueOf(&v).Elem()
		faults := s.CheckValue(dst)
		out, appended := s.Append(nil, dst)
		if !reflect.DeepEqual(faults, appended) {
			t.Fatalf("CheckValue says %+v, Append %+v", faults, appended)
		}
		if faults == nil {
			if again := s.Check(out, 0); again != nil {
				t.Fatalf("Check refuses %s: %+v", out, again)
			}
			return
		}
		// The writer writes on after a fault, so that bytes can be judged as well.
		w := writer{write: true}
		w.root(s, dst)
		if json.Valid(w.buf) && !bytes.Contains(w.buf, []byte{0xff}) && s.Check(w.buf, 0) == nil && !hasRule(faults, "utf8") {
			t.Fatalf("CheckValue says %+v, and Check accepts %s", faults, w.buf)
		}
	})
}

func hasRule(faults []Fault, rule string) bool {
	for _, f := range faults {
		if f.Rule == rule {
			return true
		}
	}
	return false
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(validOrder))
	f.Add([]byte(faultyOrder))
	f.Add([]byte(`{"name":"ann","password":"12345678","extra":{"a":[1,2.5e3,null]},"raw":[{}],"labels":{"a":"b"},"key":"aGk=","wait":"1h"}`))
	f.Add([]byte(`{"shapes":[{"kind":"circle","radius":1},{"kind":"square","inner":{"kind":"circle","radius":2}}]}`))
	schemas := []*Schema{mustFor[order](f), mustFor[account](f), mustFor[tree](f), mustFor[subject](f, OneOf("kind", Variants[shape_]{"circle": circle{}, "square": &square{}}))}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range schemas {
			dst := reflect.New(s.goType).Elem()
			decoded, checked := s.Decode(data, dst, 0), s.Check(data, 0)
			if !reflect.DeepEqual(decoded, checked) {
				t.Errorf("Decode says %+v, Check %+v", decoded, checked)
			}
			if decoded != nil {
				for _, fault := range decoded {
					if len(fault.Pointer)+len(fault.Message) > 3000 {
						t.Errorf("a fault of %d bytes", len(fault.Pointer)+len(fault.Message))
					}
				}
				continue
			}
			if !json.Valid(data) {
				t.Errorf("accepted what is not JSON: %q", data)
			}
			checkRoundTrip(t, s, dst)
		}
	})
}
