package structured_test

import (
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
	"pgregory.net/rapid"

	"github.com/ambit-dev/ambit/internal/structured"
)

var wide = structured.Limits{Bytes: 8 << 10, Members: 64, Items: 128, Params: 128}

// read returns what is read of lines, as it is written again.
func read(lines []string) (string, error) {
	fields, err := structured.ParseDictionary(lines, wide)
	if err != nil {
		return "", err
	}
	var text []byte
	for i, member := range fields {
		if i > 0 {
			text = append(text, ", "...)
		}
		if text, err = structured.AppendMember(text, member); err != nil {
			return "", err
		}
	}
	return string(text), nil
}

// agree reports whether the library reads the same, where that is possible: it
// keeps the last of two that are equal, and reads display strings.
func agree(t rapid.TB, text string) {
	t.Helper()
	got, err := read([]string{text})
	other, otherErr := httpsfv.UnmarshalDictionary([]string{text})
	switch {
	case err == nil && otherErr != nil:
		t.Fatalf("%q: read as %q, and the library says %v", text, got, otherErr)
	case err != nil && otherErr == nil && !stricter(err):
		t.Fatalf("%q: %v, and the library reads it", text, err)
	case err == nil:
		want, err := httpsfv.Marshal(other)
		if err != nil {
			t.Fatalf("%q: the library cannot write what it read: %v", text, err)
		}
		if got != strings.ReplaceAll(want, "-0.0", "0.0") && got != want {
			t.Fatalf("%q: want %q, got %q", text, want, got)
		}
	}
}

func stricter(err error) bool {
	for _, why := range []string{"comes twice", "display string", "too many parts", "more than"} {
		if strings.Contains(err.Error(), why) {
			return true
		}
	}
	return false
}

// What is read and written is what the library for structured fields reads and
// writes, to the byte.
func TestReadsAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"a", "b", "*c", "a1", "=", "=", "=", ";", ";", ", ", ",", "(", ")", " ", "\t", `"`, `"x"`, `"\"`, `"\\"`, `"a\"b"`, `"%"`, `%"x"`, ":AAAA:", ":AA==:", ":A:", "::",
			"1", "-1", "-0", "007", "1.5", "1.500", "-1.25", "0.0", "1.0004", "999999999999999", "1000000000000000", "999999999999.999", "1000000000000.0", "-", "1.",
			"@1", "@-5", "@1.5", "?1", "?0", "?2", "tok", "T/b:c", "A", "é", "\x7f", "\n",
		}),
		rapid.StringMatching(`[ -~]`),
	)
	value := rapid.SampledFrom([]string{`"x"`, `"a\"b"`, `"%"`, ":AAAA:", "1", "-1", "-0", "1.5", "1.500", "-1.25", "0.05", "@1", "?1", "?0", "tok", `("a" "b";x)`, `( 1  2 )`, `()`})
	rapid.Check(t, func(t *rapid.T) { agree(t, strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")) })
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z*][a-z0-9_.*-]{0,3}`), 0, 4, rapid.ID[string]).Draw(t, "names") {
			text := name + "=" + value.Draw(t, "value")
			for range rapid.IntRange(0, 3).Draw(t, "params") {
				text += ";" + rapid.StringMatching(` ?[a-z*]{1,3}`).Draw(t, "param")
				if v := value.Draw(t, "value of it"); rapid.Bool().Draw(t, "has one") && v[0] != '(' {
					text += "=" + v
				}
			}
			members = append(members, text)
		}
		agree(t, strings.Join(members, rapid.SampledFrom([]string{",", ", ", "\t,\t"}).Draw(t, "comma")))
	})
}

func FuzzDictionary(f *testing.F) {
	for _, text := range []string{`sig1=("@method" "a";key="x";req);created=1;keyid="k"`, `a=:AAAA:, b;x=1.5, c=@7`, `a="\"", a`, `x=%"a"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { agree(t, text) })
}

func TestDictionaryOfSeveralLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lines []string
		want  string // "": an error
	}{
		{[]string{"a=1", "b=2"}, "a=1, b=2"},
		{[]string{"a=1", "\t b=2 "}, "a=1, b=2"},
		{[]string{"a=1", "a=2"}, ""},
		{[]string{"a=1,", "b=2"}, ""},
		{[]string{"a=1", ""}, ""},
		{[]string{`a="x`, `y"`}, ""},
		{[]string{`z="q`, `", a=1, a=2;p=";"`}, ""},
		{[]string{`a=("x"`, `"y")`}, ""},
	} {
		if got, err := read(test.lines); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: want %q, got %q, %v", test.lines, test.want, got, err)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	limits := structured.Limits{Bytes: 30, Members: 2, Items: 3, Params: 2}
	for text, fits := range map[string]bool{
		"a, b": true, "a, b, c": false,
		"a=(1 2), b=(3)": true, "a=(1 2), b=(3 4)": false,
		"a;x, b=(1;y)": true, "a;x, b=(1;y);z": false,
		"a=" + strings.Repeat("1", 15): true, `a="` + strings.Repeat("x", 30) + `"`: false,
	} {
		if _, err := structured.ParseDictionary([]string{text}, limits); (err == nil) != fits {
			t.Errorf("%q: want that it fits %v, got %v", text, fits, err)
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]structured.Member{
		"no name":            {Item: structured.Item{Value: structured.Number(1)}},
		"a name in capitals": {Name: "A", Item: structured.Item{Value: structured.Number(1)}},
		"a line break":       {Name: "a", Item: structured.Item{Value: structured.Text("x\ny")}},
		"letters of others":  {Name: "a", Item: structured.Item{Value: structured.Text("é")}},
		"a large number":     {Name: "a", Item: structured.Item{Value: structured.Number(1e15)}},
		"no value":           {Name: "a"},
	} {
		if text, err := structured.AppendMember(nil, member); err == nil {
			t.Errorf("%s: want an error, got %q", name, text)
		}
	}
}
