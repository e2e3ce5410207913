package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// account covers what order does not.
type account struct {
	Name     string            `json:"name" pattern:"^[a-z]+$"`
	Password string            `json:"password" secret:"true" minLength:"8"`
	Age      uint8             `json:"age,omitempty"`
	Balance  int64             `json:"balance,omitempty"`
	Ratio    float64           `json:"ratio,omitempty" exclusiveMinimum:"0" multipleOf:"0.01"`
	Email    string            `json:"email,omitempty" format:"email"`
	Born     *time.Time        `json:"born"`
	Wait     time.Duration     `json:"wait,omitempty"`
	Key      []byte            `json:"key,omitempty"`
	Labels   map[string]string `json:"labels,omitempty" maxLength:"5"`
	Extra    any               `json:"extra,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Parent   *account          `json:"parent"`
	Nick     *string           `json:"nick" nullable:"true"`
	Unique   []int             `json:"unique,omitempty" uniqueItems:"true"`
}

func fault(pointer, rule string) Fault { return Fault{Pointer: pointer, Rule: rule} }

// TestDecodeFaults states place and rule of everything that can be wrong with a value.
func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	const ok = `"name":"ann","password":"12345678"`
	tests := []struct {
		name, data string
		want       []Fault
	}{
		{"valid", `{` + ok + `}`, nil},
		{"white space", " \n{\t" + ok + " } \r\n", nil},
		{"empty", ``, []Fault{fault("", "syntax")}},
		{"half an object", `{"name":`, []Fault{fault("", "syntax")}},
		{"bad bracket", `{` + ok + `,"raw":{"a":]}`, []Fault{fault("", "syntax")}},
		{"trailing data", `{` + ok + `} {}`, []Fault{fault("", "syntax")}},
		{"trailing comma", `{` + ok + `,}`, []Fault{fault("", "syntax")}},
		{"leading zero", `{` + ok + `,"age":01}`, []Fault{fault("", "syntax")}},
		{"NaN", `{` + ok + `,"ratio":NaN}`, []Fault{fault("", "syntax")}},
		{"Infinity", `{` + ok + `,"ratio":-Infinity}`, []Fault{fault("", "syntax")}},
		{"control character", "{\"name\":\"a\nb\"}", []Fault{fault("", "syntax")}},
		{"invalid UTF-8", "{\"name\":\"a\xff\"}", []Fault{fault("", "utf8")}},
		{"overlong UTF-8", "{\"name\":\"\xc0\x80\"}", []Fault{fault("", "utf8")}},
		{"lone surrogate", `{"name":"\ud800"}`, []Fault{fault("", "utf8")}},
		{"invalid UTF-8 in what is skipped", "{" + ok + ",\"nope\":[\"\xff\"]}", []Fault{fault("", "utf8")}},
		{"not an object", `[]`, []Fault{fault("", "type")}},
		{"null", `null`, []Fault{fault("", "type")}},
		{"missing", `{}`, []Fault{fault("/name", "required"), fault("/password", "required")}},
		{"duplicate", `{` + ok + `,"name":"bob"}`, []Fault{fault("/name", "duplicate")}},
		{"duplicate by escape", `{` + ok + `,"n\u0061me":"bob"}`, []Fault{fault("/name", "duplicate")}},
		{"duplicate in raw", `{` + ok + `,"raw":{"a":1,"b":{"c":1,"c":2}}}`, []Fault{fault("/raw/b/c", "duplicate")}},
		{"duplicate in map", `{` + ok + `,"labels":{"a":"b","a":"b"}}`, []Fault{fault("/labels/a", "duplicate")}},
		{"wrong case", `{` + ok + `,"Age":1}`, []Fault{fault("/Age", "case")}},
		{"unknown", `{` + ok + `,"ages":1}`, []Fault{fault("/ages", "unknown")}},
		{"null for a string", `{"name":null,"password":"12345678"}`, []Fault{fault("/name", "type")}},
		{"null for optional", `{` + ok + `,"born":null}`, []Fault{fault("/born", "type")}},
		{"null for nullable", `{` + ok + `,"nick":null}`, nil},
		{"null for any", `{` + ok + `,"extra":null,"raw":null}`, nil},
		{"pattern", `{"name":"Ann","password":"12345678"}`, []Fault{fault("/name", "pattern")}},
		{"integral float", `{` + ok + `,"age":25.0,"balance":2.5e1}`, nil},
		{"fraction", `{` + ok + `,"age":2.5}`, []Fault{fault("/age", "type")}},
		{"too large for uint8", `{` + ok + `,"age":256}`, []Fault{fault("/age", "maximum")}},
		{"negative", `{` + ok + `,"age":-1}`, []Fault{fault("/age", "minimum")}},
		{"huge exponent", `{` + ok + `,"age":1e999999999}`, []Fault{fault("/age", "maximum")}},
		{"tiny exponent", `{` + ok + `,"age":1e-999999999}`, []Fault{fault("/age", "type")}},
		{"largest int64", `{` + ok + `,"balance":9223372036854775807}`, nil},
		{"beyond int64", `{` + ok + `,"balance":9223372036854775808}`, []Fault{fault("/balance", "maximum")}},
		{"smallest int64", `{` + ok + `,"balance":-9223372036854775808}`, nil},
		{"below int64", `{` + ok + `,"balance":-9223372036854775809}`, []Fault{fault("/balance", "minimum")}},
		{"exclusive", `{` + ok + `,"ratio":0}`, []Fault{fault("/ratio", "exclusiveMinimum")}},
		{"multiple", `{` + ok + `,"ratio":0.015}`, []Fault{fault("/ratio", "multipleOf")}},
		{"decimal multiple", `{` + ok + `,"ratio":0.29}`, nil},
		{"float out of range", `{` + ok + `,"ratio":1e400}`, []Fault{fault("/ratio", "maximum")}},
		{"format", `{` + ok + `,"email":"ann"}`, []Fault{fault("/email", "format")}},
		{"time without zero", `{` + ok + `,"born":"2026-01-02T3:04:05Z"}`, []Fault{fault("/born", "format")}},
		{"time with comma", `{` + ok + `,"born":"2026-01-02T03:04:05,5Z"}`, []Fault{fault("/born", "format")}},
		{"time with wild offset", `{` + ok + `,"born":"2026-01-02T03:04:05+24:00"}`, []Fault{fault("/born", "format")}},
		{"no such day", `{` + ok + `,"born":"2026-02-29T03:04:05Z"}`, []Fault{fault("/born", "format")}},
		{"duration", `{` + ok + `,"wait":"1h30m"}`, nil},
		{"duration without unit", `{` + ok + `,"wait":"15"}`, []Fault{fault("/wait", "format")}},
		{"duration beyond 64 bits", `{` + ok + `,"wait":"9999999999h"}`, []Fault{fault("/wait", "format")}},
		{"base64", `{` + ok + `,"key":"aGk="}`, nil},
		{"base64 without padding", `{` + ok + `,"key":"aGk"}`, []Fault{fault("/key", "format")}},
		{"base64 with line break", `{` + ok + `,"key":"aG\nk="}`, []Fault{fault("/key", "format")}},
		{"base64 with stray bits", `{` + ok + `,"key":"aGl="}`, []Fault{fault("/key", "format")}},
		{"map value", `{` + ok + `,"labels":{"a~/b":"too long"}}`, []Fault{fault("/labels/a~0~1b", "maxLength")}},
		{"any keeps 2^53", `{` + ok + `,"extra":[9007199254740992]}`, nil},
		{"any beyond 2^53", `{` + ok + `,"extra":[9007199254740993]}`, []Fault{fault("/extra/0", "maximum")}},
		{"any beyond 2^53 as float", `{` + ok + `,"extra":{"n":9007199254740993.0}}`, []Fault{fault("/extra/n", "maximum")}},
		{"any out of range", `{` + ok + `,"extra":1e999}`, []Fault{fault("/extra", "maximum")}},
		{"raw keeps all numbers", `{` + ok + `,"raw":123456789012345678901234567890}`, nil},
		{"recursion", `{` + ok + `,"parent":{` + ok + `,"parent":{}}}`, []Fault{fault("/parent/parent/name", "required"), fault("/parent/parent/password", "required")}},
		{"repeated item", `{` + ok + `,"unique":[1,2,1.0]}`, []Fault{fault("/unique/2", "uniqueItems")}},
		{"document order", `{"password":"x","name":"ANN","nope":1}`, []Fault{fault("/password", "minLength"), fault("/name", "pattern"), fault("/nope", "unknown")}},
		{"escapes in name", `{"name":"\u0061nn","password":"12345678"}`, nil},
	}
	s := mustFor[account](t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checkDecode(t, s, test.data, test.want)
		})
	}
}

// checkDecode compares place and rule of the faults, and that Check has the same verdict.
func checkDecode(t *testing.T, s *Schema, data string, want []Fault) {
	t.Helper()
	dst := reflect.New(s.goType).Elem()
	got := s.Decode([]byte(data), dst, 0)
	if diff := cmp.Diff(got, s.Check([]byte(data), 0)); diff != "" {
		t.Errorf("Check differs from Decode (-decode +check):\n%s", diff)
	}
	bare := make([]Fault, 0, len(got))
	for _, f := range got {
		if f.Message == "" || strings.Contains(f.Message, "%!") {
			t.Errorf("bad message %q", f.Message)
		}
		bare = append(bare, Fault{Pointer: f.Pointer, Rule: f.Rule})
	}
	if diff := cmp.Diff(append([]Fault{}, want...), bare); diff != "" {
		t.Errorf("faults of %s (-want +got):\n%s\n%+v", data, diff, got)
	}
	if got == nil {
		checkRoundTrip(t, s, dst)
	}
}

// checkRoundTrip writes an accepted value and reads it again.
func checkRoundTrip(t *testing.T, s *Schema, v reflect.Value) {
	t.Helper()
	if faults := s.CheckValue(v); faults != nil {
		t.Errorf("CheckValue refuses what Decode accepted: %+v", faults)
	}
	out, faults := s.Append([]byte("x"), v)
	if faults != nil {
		t.Fatalf("Append refuses what Decode accepted: %+v", faults)
	}
	again := reflect.New(s.goType).Elem()
	if faults := s.Decode(out[1:], again, 0); faults != nil {
		t.Fatalf("Decode refuses what Append wrote: %+v\n%s", faults, out)
	}
	second, faults := s.Append([]byte("x"), again)
	if faults != nil || string(second) != string(out) {
		t.Errorf("the second form differs from the first (-want +got):\n%s", cmp.Diff(string(out), string(second)))
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	tests := []struct{ data, want string }{
		{`{"name":"ann","password":"12345678","Age":1}`, `the key is spelled "age"`},
		{`{"name":"ann","password":"12345678","emial":1}`, `the key is not known here; did you mean "email"?`},
		{`{"name":"ann","password":"12345678","quite":1}`, `the key is not known here; leave it out`},
		{`{"name":"ann","password":"12345678","age":300}`, `must be at most 255, not 300`},
		{`{"name":"` + strings.Repeat("x", 100) + `1","password":"12345678"}`, `must match the pattern ^[a-z]+$, not "` + strings.Repeat("x", 32) + `…"`},
		{`{"name":null,"password":"12345678"}`, `must be a string, not null`},
		{`{"name":"ann","password":"12345678","age":null}`, `must be an integer, not null; leave it out if there is no value`},
		{`{"name":"ann","password":null}`, `must be a string, not null`},
		{`{"name":[],"password":"12345678"}`, `must be a string, not an array`},
		{`{"name":"ann","password":"short"}`, `must have at least 8 characters`},
		{`{"name"`, `the text ends where a colon belongs, at byte 7`},
	}
	s := mustFor[account](t)
	for _, test := range tests {
		faults := s.Check([]byte(test.data), 0)
		if len(faults) != 1 {
			t.Errorf("%s: want one fault, got %+v", test.data, faults)
			continue
		}
		if diff := cmp.Diff(test.want, faults[0].Message); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	}
}

func TestEnumMessages(t *testing.T) {
	t.Parallel()
	type inner struct {
		Kind   string   `json:"kind,omitempty" enum:"task,event,note"`
		Secret string   `json:"secret,omitempty" enum:"task,event" secret:"true"`
		Only   string   `json:"only,omitempty" enum:"task"`
		Many   []string `json:"many,omitempty" enum:"alpha,beta"`
	}
	s := mustFor[inner](t)
	tests := []struct {
		data string
		want []string
	}{
		{`{"kind":"taks"}`, []string{`must be one of the allowed values, not "taks"; did you mean "task"?`}},
		{`{"kind":"NOTE"}`, []string{`must be one of the allowed values, not "NOTE"; did you mean "note"?`}},
		{`{"kind":"meeting"}`, []string{`must be one of the allowed values, not "meeting"`}},
		{`{"kind":"` + strings.Repeat("n", 64) + `"}`, []string{`must be one of the allowed values, not "` + strings.Repeat("n", 32) + `…"`}},
		{`{"secret":"taks"}`, []string{`must be one of the allowed values`}},
		{`{"only":"taks"}`, []string{`must be one of the allowed values, not "taks"`}},
		{`{"many":["alpa","alpa","alpa","alpa","alpa","alpa"]}`, append(
			slices.Repeat([]string{`must be one of the allowed values, not "alpa"; did you mean "alpha"?`}, 5),
			`must be one of the allowed values, not "alpa"`,
		)},
	}
	for _, test := range tests {
		var got []string
		for _, fault := range s.Check([]byte(test.data), 0) {
			got = append(got, fault.Message)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: messages (-want +got):\n%s", test.data, diff)
		}
	}
}

// TestT09_SecretsAreNotEchoed sends a marker through every kind of fault at and below a secret.
func TestT09_SecretsAreNotEchoed(t *testing.T) {
	t.Parallel()
	type inner struct {
		N int               `json:"n" maximum:"5"`
		S string            `json:"s" enum:"a,b"`
		M map[string]string `json:"m" maxLength:"2"`
	}
	type vault struct {
		Pin   string  `json:"pin" secret:"true" pattern:"^[0-9]$"`
		Count int     `json:"count" secret:"true"`
		Deep  inner   `json:"deep" secret:"true"`
		List  []inner `json:"list" secret:"true"`
	}
	s := mustFor[vault](t)
	if !s.HasSecret() {
		t.Error("want HasSecret")
	}
	if !strings.Contains(string(s.JSON()), `"writeOnly":true`) {
		t.Errorf("want writeOnly in %s", s.JSON())
	}
	for _, data := range []string{
		`{"pin":"canary"}`,
		`{"count":98765432101234567890}`,
		`{"count":98765432.5}`,
		`{"deep":{"s":"canary","n":98765432,"m":{"canary":"canary"},"canary":1}}`,
		`{"list":[{"s":"canary","n":98765432,"m":{"canary":1},"canary":2}]}`,
		`{"deep":{"m":{"canary":"x","canary":"x"}}}`,
	} {
		faults := s.Check([]byte(data), 0)
		text, err := json.Marshal(faults)
		if err != nil || faults == nil {
			t.Fatal(err, faults)
		}
		if strings.Contains(string(text), "canary") || strings.Contains(string(text), "98765432") {
			t.Errorf("a secret shows: %s", text)
		}
	}
	value := vault{Pin: "canary", Count: 98765432, Deep: inner{S: "canary", M: map[string]string{"canary": "canary"}}}
	text, err := json.Marshal(s.CheckValue(reflect.ValueOf(&value).Elem()))
	if err != nil || strings.Contains(string(text), "canary") {
		t.Errorf("a secret shows: %s %v", text, err)
	}
}

// TestT09_ForeignKeysBelowASecret holds for what the complete validator finds, too, which knows
// of no secrets: its faults point to the secret and no deeper.
func TestT09_ForeignKeysBelowASecret(t *testing.T) {
	t.Parallel()
	const inner = `{"type":"object","additionalProperties":{"type":"integer","not":{"const":1}}`
	tests := []struct{ name, text, data, want string }{
		{"a member", `{"type":"object","properties":{"s":` + inner + `,"writeOnly":true}}}`, `{"s":{"canary":1}}`, "/s"},
		{"an item", `{"type":"array","items":` + inner + `,"writeOnly":true}}`, `[{},{"canary":1}]`, "/1"},
		{"any member", `{"type":"object","additionalProperties":` + inner + `,"writeOnly":true}}`, `{"k":{"canary":1}}`, "/k"},
		{"no secret", `{"type":"object","properties":{"s":` + inner + `}}}`, `{"s":{"canary":1}}`, "/s/canary"},
	}
	for _, test := range tests {
		s, err := Parse([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		faults := s.Check([]byte(test.data), 0)
		if len(faults) != 1 || faults[0].Pointer != test.want {
			t.Errorf("%s: want one fault at %s, got %+v", test.name, test.want, faults)
		}
	}
}

// TestT26_FaultsAreBounded shows the limits on faults, suggestions and echoes.
func TestT26_FaultsAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"name":"ann","password":"12345678"`)
	for i := range 100 {
		b.WriteString(`,"emai` + strings.Repeat("l", i%7) + strings.Repeat("x", i) + `":1`)
	}
	b.WriteString(`}`)
	faults := mustFor[account](t).Check([]byte(b.String()), 0)
	if len(faults) != MaxFaults {
		t.Errorf("want %d faults, got %d", MaxFaults, len(faults))
	}
	hints := 0
	for _, f := range faults {
		if strings.Contains(f.Message, "did you mean") {
			hints++
		}
	}
	if hints == 0 || hints > 5 {
		t.Errorf("want one to five suggestions, got %d", hints)
	}
	long := `{"name":"ann","password":"12345678","` + strings.Repeat("k", 100_000) + `":"` + strings.Repeat("v", 100_000) + `"}`
	text, err := json.Marshal(mustFor[account](t).Check([]byte(long), 0))
	if err != nil || len(text) > 500 {
		t.Errorf("want a short fault, got %d bytes", len(text))
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	s := mustFor[struct {
		Raw json.RawMessage `json:"raw"`
	}](t)
	nested := func(n int) []byte {
		return []byte(`{"raw":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	tests := []struct {
		levels, depth int
		want          string
	}{
		{62, 0, ""}, {63, 0, ""}, {64, 0, "depth"}, {200_000, 0, "depth"}, {1, 2, ""}, {2, 2, "depth"}, {200_000, 1 << 30, "depth"},
	}
	for _, test := range tests {
		rule := ""
		if faults := s.Check(nested(test.levels), test.depth); faults != nil {
			rule = faults[0].Rule
		}
		if rule != test.want {
			t.Errorf("%d levels, limit %d: want %q, got %q", test.levels, test.depth, test.want, rule)
		}
	}
}
