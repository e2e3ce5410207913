package schema

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// The cases are of the project and free to use; see the file.
func TestCanonicalCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/jcs_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Note, In, Out string
			Reject        bool
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 15 {
		t.Fatalf("want at least 15 cases, got %d", len(file.Cases))
	}
	anything, err := Parse([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		got, faults := anything.AppendCanonical(nil, []byte(c.In), 0)
		if (len(faults) > 0) != c.Reject {
			t.Errorf("%s: want rejected %t, got %v", c.Note, c.Reject, faults)
		}
		if diff := cmp.Diff(c.Out, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Note, diff)
		}
	}
}

type canonicalLine struct {
	Amount int64   `json:"amount"`
	Price  float64 `json:"price,omitempty"`
}

type canonicalInput struct {
	Zone  string           `json:"zone" default:"eu" minLength:"1"`
	ID    uint64           `json:"id"`
	Lines []canonicalLine  `json:"lines,omitempty"`
	Extra map[string]int64 `json:"extra,omitempty"`
	Any   any              `json:"any,omitempty"`
}

type canonicalShape interface{ area() int }

type canonicalSquare struct {
	Side int `json:"side"`
}

func (s canonicalSquare) area() int { return s.Side * s.Side }

type canonicalNone struct{}

func (canonicalNone) area() int { return 0 }

func TestCanonicalByType(t *testing.T) {
	t.Parallel()
	typed, err := For[canonicalInput](Options{})
	if err != nil {
		t.Fatal(err)
	}
	parsed := func(text string) *Schema {
		s, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	union, err := For[struct {
		Shape canonicalShape `json:"shape"`
	}](Options{Unions: []Union{OneOf("kind", Variants[canonicalShape]{"square": canonicalSquare{}, "none": canonicalNone{}})}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, in, want string
		schema         *Schema
		fault          string // rule
	}{
		{"defaults and order", `{"id":1.0}`, `{"id":1,"zone":"eu"}`, typed, ""},
		{"integers in all digits", `{"id":18446744073709551615,"zone":"a"}`, `{"id":18446744073709551615,"zone":"a"}`, typed, ""},
		{"an integer with an exponent", `{"id":12.5e2}`, `{"id":1250,"zone":"eu"}`, typed, ""},
		{"within arrays", `{"id":1,"lines":[{"price":1.50,"amount":-9007199254740993}]}`, `{"id":1,"lines":[{"amount":-9007199254740993,"price":1.5}],"zone":"eu"}`, typed, ""},
		{"within maps", `{"id":1,"extra":{"b":1e0,"a":9007199254740993}}`, `{"extra":{"a":9007199254740993,"b":1},"id":1,"zone":"eu"}`, typed, ""},
		{"of no known type", `{"id":1,"any":{"b":1.0,"a":[2.50]}}`, `{"any":{"a":[2.5],"b":1},"id":1,"zone":"eu"}`, typed, ""},
		{"minus zero", `-0`, `0`, parsed(`{"type":"integer"}`), ""},
		{"many written digits", strings.Repeat("9", 500), strings.Repeat("9", 500), parsed(`{"type":"integer"}`), ""},
		{"64 more digits", `1e66`, `1` + strings.Repeat("0", 66), parsed(`{"type":"integer"}`), ""},
		{"more digits than are written", `1e68`, ``, parsed(`{"type":"integer"}`), "maximum"},
		{"an absurd exponent", `1e999999999`, ``, parsed(`{"type":"integer"}`), "maximum"},
		{"number is not integer", `9007199254740993`, ``, parsed(`{"type":"number"}`), "precision"},
		{"nor is integer or number", `9007199254740993`, ``, parsed(`{"type":["integer","number"]}`), "precision"},
		{"beyond 2^53 and exact", `9007199254740992.0`, `9007199254740992`, parsed(`{"type":"number"}`), ""},
		{"more digits than a float64 has", `0.10000000000000000555`, ``, parsed(`{"type":"number"}`), "precision"},
		{"smaller than any float64", `1e-400`, ``, parsed(`{}`), "precision"},
		{"written at length", `-1.50e+00`, `-1.5`, parsed(`{}`), ""},
		{"a Go float, rounded as it is decoded", `{"id":1,"lines":[{"amount":1,"price":333333333.33333329}]}`, `{"id":1,"lines":[{"amount":1,"price":333333333.3333333}],"zone":"eu"}`, typed, ""},
		{"a fraction of no known type", `{"id":1,"any":[333333333.33333329]}`, ``, typed, "precision"},
		{"integer or string", `1e2`, `100`, parsed(`{"type":["integer","string"]}`), ""},
		{"a branch", `9007199254740993`, `9007199254740993`, parsed(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), ""},
		{"under the complete validator", `9007199254740993`, `9007199254740993`, parsed(`{"type":"integer","not":{"const":3}}`), ""},
		{"a variant", `{"shape":{"side":2.0,"kind":"square"}}`, `{"shape":{"kind":"square","side":2}}`, union, ""},
		{"invalid", `{"id":-1}`, ``, typed, "minimum"},
		{"no JSON", `{"id":1`, ``, typed, "syntax"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, faults := test.schema.AppendCanonical([]byte("> "), []byte(test.in), 0)
			if diff := cmp.Diff("> "+test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			rule := ""
			if len(faults) > 0 {
				rule = faults[0].Rule
			}
			if rule != test.fault {
				t.Errorf("want rule %q, got %+v", test.fault, faults)
			}
		})
	}
}

func TestCanonicalPointsToTheNumber(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"additionalProperties":true}`))
	if err != nil {
		t.Fatal(err)
	}
	_, faults := s.AppendCanonical(nil, []byte(`{"b~":[1e400],"a":[1,1e400]}`), 0)
	var got []string
	for _, f := range faults {
		got = append(got, f.Pointer)
	}
	if diff := cmp.Diff([]string{"/a/1", "/b~0/0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Order and numbers against other implementations of the same rules: UTF-16 of the standard
// library, and its JSON, which writes floats as ECMAScript does.
func TestCanonicalOrderAndNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareUTF16([]byte(a), []byte(b)); sign(int64(got)) != want {
			t.Errorf("%q, %q: want %d, got %d", a, b, want, got)
		}
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) || f == 0 {
			return
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendNumber(nil, f)); got != string(text) {
			t.Errorf("%g: want %s, got %s", f, text, got)
		}
	})
}

// scrambled writes a JSON text another way: members in another order, with white space, with
// escapes where none are needed.
func scrambled(r *rand.Rand, dst, data []byte) []byte {
	space := func() { dst = append(dst, []string{"", " ", "\n\t"}[r.IntN(3)]...) }
	space()
	switch data[0] {
	case '{':
		var members [][2][]byte
		for m := strictjson.Members(data, strictjson.MaxDepth); m.Next(); {
			members = append(members, [2][]byte{m.Key(), m.Value()})
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = scrambled(r, dst, strictjson.AppendString(nil, m[0]))
			dst = append(dst, ':')
			dst = scrambled(r, dst, m[1])
		}
		space()
		dst = append(dst, '}')
	case '[':
		dst = append(dst, '[')
		first := true
		for e := strictjson.Elements(data, strictjson.MaxDepth); e.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = scrambled(r, dst, e.Value())
		}
		space()
		dst = append(dst, ']')
	case '"':
		dst = append(dst, '"')
		for _, unit := range utf16.Encode([]rune(string(strictjson.Unquote(data[1 : len(data)-1])))) {
			hex := strconv.FormatUint(uint64(unit), 16)
			dst = append(append(dst, `\u`...), strings.Repeat("0", 4-len(hex))+hex...)
		}
		dst = append(dst, '"')
	default:
		dst = append(dst, data...)
	}
	space()
	return dst
}

func TestCanonicalIsOneForm(t *testing.T) {
	t.Parallel()
	anything, err := Parse([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(drawValue(t, 3))
		want, faults := anything.AppendCanonical(nil, text, 0)
		if faults != nil {
			t.Skip("a key twice, or a number that a float64 does not hold")
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		other := scrambled(r, nil, text)
		got, faults := anything.AppendCanonical(nil, other, 0)
		if faults != nil || string(got) != string(want) {
			t.Errorf("want %s, got %s (%v)\nof %s\nand %s", want, got, faults, text, other)
		}
		again, faults := anything.AppendCanonical(nil, got, 0)
		if faults != nil || string(again) != string(got) {
			t.Errorf("want itself %s, got %s (%v)", got, again, faults)
		}
	})
}

// What is decoded from the canonical form is what was decoded from the text, and a Go value
// leads to the form that its text leads to.
func FuzzCanonical(f *testing.F) {
	s, err := For[canonicalInput](Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		`{"id":1}`, `{"id":1e3,"zone":"x","lines":[{"amount":-0,"price":1e-7}]}`, `{"id":1,"any":{"a":[1.0,"\u0041",null]}}`,
		`{"id":1,"extra":{"\ud83d\ude00":1,"\ufb33":2}}`, `{`, `{"id":1,"any":1e400}`, `{"id":1,"any":0.10000000000000000555}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var first, second canonicalInput
		faults := s.Decode(text, reflect.ValueOf(&first).Elem(), 0)
		canonical, refused := s.AppendCanonical(nil, text, 0)
		inexact := func(f Fault) bool { return f.Rule == "precision" }
		if len(faults) > 0 != (len(refused) > 0) && !slices.ContainsFunc(refused, inexact) {
			t.Fatalf("want the same verdict but for numbers, got %v and %v", faults, refused)
		}
		if refused != nil {
			return
		}
		if faults := s.Decode(canonical, reflect.ValueOf(&second).Elem(), 0); faults != nil {
			t.Fatalf("%s is canonical and invalid: %v", canonical, faults)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("decoded from %s (-text +canonical):\n%s", canonical, diff)
		}
		appended, faults := s.Append(nil, reflect.ValueOf(&second).Elem())
		if faults != nil {
			t.Fatal(faults)
		}
		again, faults := s.AppendCanonical(nil, appended, 0)
		if faults != nil {
			t.Fatal(faults)
		}
		if twice, _ := s.AppendCanonical(nil, again, 0); string(twice) != string(again) {
			t.Errorf("want itself %s, got %s", again, twice)
		}
	})
}
