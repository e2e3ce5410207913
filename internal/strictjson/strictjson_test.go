package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/ambit-dev/ambit/internal/strictjson"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestValid(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		kind   strictjson.Kind // 0: valid
		offset int
	}{
		{`null`, 0, 0},
		{" \t\r\n[1 , 2.5e-3,\"x\",{ \"a\" : true }] ", 0, 0},
		{`-0`, 0, 0},
		{`"\u00e9\ud83d\ude00\b\/"`, 0, 0},
		{`{"a":1,"a":2}`, 0, 0},
		{``, strictjson.Syntax, 0},
		{` `, strictjson.Syntax, 1},
		{`nul`, strictjson.Syntax, 0},
		{`NaN`, strictjson.Syntax, 0},
		{`+1`, strictjson.Syntax, 0},
		{`01`, strictjson.Syntax, 1},
		{`1.`, strictjson.Syntax, 2},
		{`1e+`, strictjson.Syntax, 3},
		{`-`, strictjson.Syntax, 1},
		{`[1,]`, strictjson.Syntax, 3},
		{`[1 2]`, strictjson.Syntax, 3},
		{`{"a":]}`, strictjson.Syntax, 5},
		{`{"a"}`, strictjson.Syntax, 4},
		{`{a:1}`, strictjson.Syntax, 1},
		{`{"a":1,}`, strictjson.Syntax, 7},
		{`1 2`, strictjson.Syntax, 2},
		{`"abc`, strictjson.Syntax, 4},
		{"\"a\x00\"", strictjson.Syntax, 2},
		{`"\x"`, strictjson.Syntax, 1},
		{`"\u12"`, strictjson.Syntax, 1},
		{"\ufeff1", strictjson.Syntax, 0},
		{"\"\xc3\"", strictjson.UTF8, 1},
		{"\"\xed\xa0\x80\"", strictjson.UTF8, 1},
		{`"a\ud800"`, strictjson.UTF8, 2},
		{`"\udc00"`, strictjson.UTF8, 1},
		{`"\ud800\u0041"`, strictjson.UTF8, 1},
		{`[[[1]]]`, strictjson.Depth, 2},
		{`[{"a":{}}]`, strictjson.Depth, 6},
	}
	for _, test := range tests {
		err := strictjson.Valid([]byte(test.text), 2)
		var problem *strictjson.Error
		if !errors.As(err, &problem) {
			problem = &strictjson.Error{}
		}
		if problem.Kind != test.kind || problem.Offset != test.offset {
			t.Errorf("%q: want kind %d at %d, got %d at %d (%v)", test.text, test.kind, test.offset, problem.Kind, problem.Offset, err)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
		err  bool
	}{
		{` { } `, nil, false},
		{`{"a":1,"b\u0062" : [ 1 ] }`, []string{"a=1", "bb=[ 1 ]"}, false},
		{`{"a":1,"a":2}`, []string{"a=1", "a=2"}, false},
		{`{"a":1} x`, []string{"a=1"}, true},
		{`{"a":1,`, []string{"a=1"}, true},
		{`{"a":[}`, nil, true},
		{`{} {}`, nil, true},
		{`[]`, nil, true},
		{`{"a":[[1]]}`, nil, true},
		{``, nil, true},
	}
	for _, test := range tests {
		var got []string
		members := strictjson.Members([]byte(test.text), 2)
		for members.Next() {
			got = append(got, string(members.Key())+"="+string(members.Value()))
		}
		if diff := cmp.Diff(test.want, got); diff != "" || (members.Err() != nil) != test.err {
			t.Errorf("%s: error %v (-want +got):\n%s", test.text, members.Err(), diff)
		}
		if members.Next() {
			t.Errorf("%s: goes on after the end", test.text)
		}
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
		err  bool
	}{
		{` [ ] `, nil, false},
		{`[1, "a" ,[ ]]`, []string{"1", `"a"`, "[ ]"}, false},
		{`[1] 2`, []string{"1"}, true},
		{`[1`, []string{"1"}, true},
		{`{}`, nil, true},
		{`[[[]]]`, nil, true},
	}
	for _, test := range tests {
		var got []string
		elements := strictjson.Elements([]byte(test.text), 2)
		for elements.Next() {
			got = append(got, string(elements.Value()))
		}
		if diff := cmp.Diff(test.want, got); diff != "" || (elements.Err() != nil) != test.err {
			t.Errorf("%s: error %v (-want +got):\n%s", test.text, elements.Err(), diff)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	var keys strictjson.Keys
	for i := range 100 {
		for j := range i + 1 {
			key := []byte("key" + strconv.Itoa(j))
			if isNew := keys.Add(key); isNew != (j == i) {
				t.Fatalf("key %d of %d: want new %v, got %v", j, i, j == i, isNew)
			}
		}
	}
}

func TestAppendString(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           `""`,
		"plain":                      `"plain"`,
		"a\"b\\c/\b\f\n\r\t\x01\x7f": `"a\"b\\c/\b\f\n\r\t\u0001` + "\x7f\"",
		"é😀<&>\u2028":                "\"é😀<&>\u2028\"",
		"a\xffb\xc3":                 "\"a\ufffdb\ufffd\"",
	} {
		if got := string(strictjson.AppendString([]byte("x"), text)); got != "x"+want {
			t.Errorf("%q: want %s, got %s", text, want, got)
		}
		if got := string(strictjson.AppendString(nil, []byte(text))); got != want {
			t.Errorf("%q as bytes: want %s, got %s", text, want, got)
		}
	}
}

func TestCompact(t *testing.T) {
	t.Parallel()
	const text = " { \"a b\" : [ 1 ,\n 2 , \" \\\" \" ] , \"c\":null } "
	if got, want := string(strictjson.Compact(nil, []byte(text))), `{"a b":[1,2," \" "],"c":null}`; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	got, err := strictjson.Marshal([]byte("x"), map[string]any{"b": 1, "a": []int(nil)})
	if err != nil || string(got) != `x{"a":[],"b":1}` {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := strictjson.Marshal([]byte("x"), func() {}); err == nil || string(got) != "x" {
		t.Errorf("want an error and the slice as it came, got %s, %v", got, err)
	}
	var v struct{ A int }
	for text, ok := range map[string]bool{`{"A":1}`: true, `{"a":1}`: false, `{"A":1,"A":2}`: false, `{"A":1} `: true, `{"A":1}1`: false} {
		if err := strictjson.Unmarshal([]byte(text), &v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	text := []byte(`{"a":[1,2,{"b":"c"}],"d":"é","e":null}`)
	allocations := testing.AllocsPerRun(100, func() {
		if strictjson.Valid(text, 10) != nil {
			t.Error("not valid")
		}
		var keys strictjson.Keys
		members := strictjson.Members(text, 10)
		for members.Next() {
			keys.Add(members.Key())
		}
	})
	if allocations != 0 {
		t.Errorf("want no allocations, got %v", allocations)
	}
}

// FuzzValid compares the verdict with jsontext, and strings with encoding/json.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2.5e+3,"\u00e9\ud83d\ude00",true,null]}`, `[[`, `"\ud800"`, "\"\xff\"", `01`, ` {} `, `"\u0000"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := strictjson.Valid(data, strictjson.MaxDepth)
		want := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(false))
		if (err == nil) != want {
			t.Fatalf("%q: want valid %v, got %v", data, want, err)
		}
		if err != nil {
			var problem *strictjson.Error
			if !errors.As(err, &problem) || problem.Offset < 0 || problem.Offset > len(data) {
				t.Errorf("%q: bad error %v", data, err)
			}
			return
		}
		var compacted bytes.Buffer
		if err := json.Compact(&compacted, data); err != nil || compacted.String() != string(strictjson.Compact(nil, data)) {
			t.Errorf("%q: want %s, got %s", data, &compacted, strictjson.Compact(nil, data))
		}
		text := bytes.Trim(data, " \t\r\n")
		if text[0] != '"' {
			return
		}
		var value string
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		if got := string(strictjson.Unquote(text[1 : len(text)-1])); got != value {
			t.Errorf("%q: want %q, got %q", data, value, got)
		}
		again := strictjson.AppendString(nil, value)
		if strictjson.Valid(again, 1) != nil || string(strictjson.Unquote(again[1:len(again)-1])) != value {
			t.Errorf("%q does not survive: %s", value, again)
		}
	})
}
