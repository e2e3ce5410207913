package messagesig_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

const someSignature = "sig1=:AAAA:"

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, input, signature string }{
		{"no list", `sig1="@authority";created=1`, someSignature},
		{"duplicate label", `sig1=("@authority"), sig1=("@method")`, someSignature},
		{"duplicate label of Signature", `sig1=("@authority")`, "sig1=:AAAA:, sig1=:BBBB:"},
		{"duplicate parameter", `sig1=("@authority");created=1;created=2`, someSignature},
		{"duplicate parameter of a component", `sig1=("a";key="x";key="y")`, someSignature},
		{"duplicate label behind a quote", `sig1=("@authority");nonce="\"", sig1=("@method")`, someSignature},
		{"display string", `sig1=("@authority");nonce=%"\", sig1=("@method");x=%""`, someSignature},
		{"five signatures", `a=("@method"), b=("@method"), c=("@method"), d=("@method"), e=("@method")`, someSignature},
		{"long", `sig1=("@method");nonce="` + strings.Repeat("x", messagesig.MaxBytes) + `"`, someSignature},
		{"many items", `sig1=(` + strings.Repeat(`"a" `, 1000) + `)`, someSignature},
		{"many parameters", `sig1=("a"` + strings.Repeat(";a", 1000) + `)`, someSignature},
		{"unclosed", `sig1=("@method"`, someSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			signatures, err := messagesig.Parse([]string{test.input}, []string{test.signature})
			if err == nil {
				t.Errorf("want an error, got %d signatures", len(signatures))
			}
		})
	}
}

// A string that goes on in the next line could hide what comes twice from a
// reader of lines.
func TestDictionaryRefusesStringsOverTwoLines(t *testing.T) {
	for _, lines := range [][]string{
		{`z="q`, `", a=1, a=2;p=";"`},
		{`sha-256=:AAAA:;z="q`, `", sha-256=:BBBB:;p=";"`},
		{`z="q`, `q"`},
		{`z="q\`, `"`},
	} {
		if fields, err := messagesig.Dictionary(lines); err == nil {
			t.Errorf("%q: want an error, got %d members", lines, len(fields))
		}
	}
}

// A string may hold and end in whatever begins something elsewhere.
func TestDictionaryTakesStringsOfAnyText(t *testing.T) {
	for _, text := range []string{`0123456789abcdef%`, `%`, `%\"%`, `,;\\`, `a%\"`} {
		fields, err := messagesig.Dictionary([]string{`sig1=("@method");nonce="` + text + `"`})
		if err != nil || len(fields) != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseNothing(t *testing.T) {
	for _, lines := range [][]string{nil, {}, {""}, {" "}} {
		signatures, err := messagesig.Parse(lines, lines)
		if err != nil || len(signatures) > 0 {
			t.Errorf("%q: %d signatures, %v", lines, len(signatures), err)
		}
	}
}

// A signature that cannot be judged has no base, and the other one in the same
// header has.
func TestFaultOfOneSignature(t *testing.T) {
	for _, component := range []string{
		`"a";sf`, `"a";bs`, `"a";tr`, `"a";key=1`, `"a";key=""`, `"a";key=token`, `"@method";key="a"`, `"a";req=?0`, `"a";other="x"`,
		`"@query-param";name="x"`, `"A"`, `""`, `"@"`, `token`, `1`, `"a b"`, `"@method" "@method"`, `"a";key="x" "a";key="x"`,
		strings.Repeat(`"a" `, messagesig.MaxComponents) + `"b"`,
	} {
		input := fmt.Sprintf(`bad=(%s), good=("@method")`, component)
		signatures, err := messagesig.Parse([]string{input}, []string{"bad=:AAAA:, good=:BBBB:"})
		if err != nil || len(signatures) != 2 {
			t.Errorf("%s: %d signatures, %v", component, len(signatures), err)
			continue
		}
		message := &messagesig.Message{Method: http.MethodGet, Header: http.Header{"A": {"x=1"}}}
		if base, err := signatures[0].Base(message); err == nil || signatures[0].Fault() == nil {
			t.Errorf("%s: want no base, got %q", component, base)
		}
		if _, err := signatures[1].Base(message); err != nil {
			t.Errorf("%s: the other signature: %v", component, err)
		}
	}
}

func TestBase(t *testing.T) {
	request := &messagesig.Message{
		Method: "POST", Scheme: "https", Authority: "example.com", Path: "/a%2Fb", Query: "x=1&y",
		Header: http.Header{"A": {" one ", "\ttwo"}, "D": {`k=1;p="q", l=(1 2)`, "m"}, "Empty": {""}},
	}
	response := &messagesig.Message{Status: 201, Header: http.Header{"A": {"three"}}, Request: request}
	bare := &messagesig.Message{Method: "GET", Scheme: "http", Authority: "example.com:8080", Header: http.Header{}}
	large := &messagesig.Message{Method: "GET", Header: http.Header{"A": {strings.Repeat("x", 40<<10)}, "B": {strings.Repeat("x", 40<<10)}}}
	long := `k="` + strings.Repeat("x", 6<<10) + `", l=1`
	wide := &messagesig.Message{Method: "GET", Header: http.Header{"A": {long}, "B": {long}, "C": {long}}}
	injected := &messagesig.Message{Method: "GET", Header: http.Header{"A": {"x\n\"@method\": POST"}}}
	for _, test := range []struct {
		name      string
		message   *messagesig.Message
		component string
		want      string // "": none
	}{
		{"method", request, `"@method"`, "POST"},
		{"scheme", request, `"@scheme"`, "https"},
		{"authority", request, `"@authority"`, "example.com"},
		{"path", request, `"@path"`, "/a%2Fb"},
		{"query", request, `"@query"`, "?x=1&y"},
		{"request target", request, `"@request-target"`, "/a%2Fb?x=1&y"},
		{"target", request, `"@target-uri"`, "https://example.com/a%2Fb?x=1&y"},
		{"field", request, `"a"`, "one, two"},
		{"member", request, `"d";key="k"`, `1;p="q"`},
		{"member that is a list", request, `"d";key="l"`, "(1 2)"},
		{"member without a value", request, `"d";key="m"`, "?1"},
		{"empty field", request, `"empty"`, ""},
		{"no field", request, `"b"`, "-"},
		{"no member", request, `"d";key="n"`, "-"},
		{"field that is no dictionary", request, `"a";key="k"`, "-"},
		{"status of a request", request, `"@status"`, "-"},
		{"unknown", request, `"@trailer"`, "-"},
		{"request of a request", request, `"@method";req`, "-"},
		{"no path", bare, `"@path"`, "/"},
		{"no query", bare, `"@query"`, "?"},
		{"target without path", bare, `"@target-uri"`, "http://example.com:8080/"},
		{"status", response, `"@status"`, "201"},
		{"field of the response", response, `"a"`, "three"},
		{"field of the request", response, `"a";req`, "one, two"},
		{"authority of the request", response, `"@authority";req`, "example.com"},
		{"authority of a response", response, `"@authority"`, "-"},
		{"too much", large, `"a" "b"`, "-"},
		{"members of too much", wide, `"a";key="l" "b";key="l" "c";key="l"`, "-"},
		{"line break", injected, `"a"`, "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			signatures, err := messagesig.Parse([]string{"s=(" + test.component + ");created=1"}, []string{"s=:AAAA:"})
			if err != nil {
				t.Fatal(err)
			}
			base, err := signatures[0].Base(test.message)
			got := "-"
			if err == nil {
				got = string(base)
			}
			want := test.want
			if want != "-" {
				want = fmt.Sprintf("%s: %s\n\"@signature-params\": (%s);created=1", test.component, want, test.component)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("base (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuthority(t *testing.T) {
	for _, test := range []struct{ scheme, host, want string }{
		{"https", "EXAMPLE.com:443", "example.com"},
		{"https", "example.com:80", "example.com:80"},
		{"http", "Example.com:80", "example.com"},
		{"http", "[::1]:8080", "[::1]:8080"},
	} {
		if got := messagesig.Authority(test.scheme, test.host); got != test.want {
			t.Errorf("Authority(%s, %s) = %q, want %q", test.scheme, test.host, got, test.want)
		}
	}
}

func TestParameters(t *testing.T) {
	signatures, err := messagesig.Parse(
		[]string{`s=("@method" "d";key="x" "d";key="y" "d");created=5;expires=6.0;keyid="k";alg=token;nonce`}, []string{`s="text"`})
	if err != nil {
		t.Fatal(err)
	}
	s := signatures[0]
	created, isCreated := s.Integer("created")
	_, isExpires := s.Integer("expires")
	keyid, isKeyID := s.Text("keyid")
	_, isAlg := s.Text("alg")
	got := fmt.Sprintln(created, isCreated, isExpires, keyid, isKeyID, isAlg, s.Has("alg"), s.Has("tag"), s.Value() == nil, s.Keys("d"),
		s.Covers(messagesig.Component{Name: "d"}), s.Covers(messagesig.Component{Name: "@path"}))
	if want := "5 true false k true false true false true [x y] true false\n"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSignIsReadBack(t *testing.T) {
	message := &messagesig.Message{Method: "GET", Scheme: "https", Authority: "example.com", Header: http.Header{"A": {"x"}}}
	created := time.Unix(100, 0)
	var signed []byte
	input, signature, err := messagesig.Sign(message, "sig1", []messagesig.Component{{Name: "@method"}, {Name: "a"}},
		messagesig.Params{Created: created, Expires: created.Add(time.Minute), KeyID: "k", Nonce: "n", Tag: "t"},
		func(base []byte) []byte { signed = base; return []byte("value") })
	if err != nil {
		t.Fatal(err)
	}
	if want := `sig1=("@method" "a");created=100;expires=160;keyid="k";nonce="n";tag="t"`; input != want {
		t.Errorf("input %s, want %s", input, want)
	}
	signatures, err := messagesig.Parse([]string{input}, []string{signature})
	if err != nil {
		t.Fatal(err)
	}
	base, err := signatures[0].Base(message)
	if err != nil || string(base) != string(signed) || string(signatures[0].Value()) != "value" {
		t.Errorf("read back %q %q, %v, signed %q", base, signatures[0].Value(), err, signed)
	}
	for _, bad := range []struct {
		label     string
		component messagesig.Component
	}{{"Sig", messagesig.Component{Name: "@method"}}, {"s", messagesig.Component{Name: "b"}}, {"s", messagesig.Component{Name: "B"}}, {"s", messagesig.Component{Name: "a", Key: "é"}}} {
		if _, _, err := messagesig.Sign(message, bad.label, []messagesig.Component{bad.component}, messagesig.Params{}, func([]byte) []byte { return nil }); err == nil {
			t.Errorf("Sign(%v): want an error", bad)
		}
	}
}

func TestCheckDigest(t *testing.T) {
	body := []byte(`{"hello": "world"}`)
	const good512 = "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
	for _, test := range []struct {
		name, value string
		want        error // nil: any, or none
		holds       bool
	}{
		{"sha-256", messagesig.Digest(body), nil, true},
		{"sha-512", good512, nil, true},
		{"both", good512 + ", " + messagesig.Digest(body), nil, true},
		{"one of another body", good512 + ", " + messagesig.Digest([]byte("x")), messagesig.ErrDigest, false},
		{"another body", messagesig.Digest([]byte("x")), messagesig.ErrDigest, false},
		{"short", "sha-256=:AAAA:", messagesig.ErrDigest, false},
		{"no bytes", "sha-256", messagesig.ErrDigest, false},
		{"a list", "sha-256=(:AAAA:)", messagesig.ErrDigest, false},
		{"md5", "md5=:AAAA:", messagesig.ErrNoDigest, false},
		{"nothing", "", messagesig.ErrNoDigest, false},
		{"twice", messagesig.Digest(body) + ", " + messagesig.Digest(body), nil, false},
		{"unreadable", "sha-256=:", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			if test.value != "" {
				lines = []string{test.value}
			}
			err := messagesig.CheckDigest(lines, body)
			if (err == nil) != test.holds || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// What is parsed is either refused, or has a base that one more pass through
// parser and writer does not change.
func FuzzParse(f *testing.F) {
	f.Add(`sig1=("@method" "a";key="x";req);created=1;keyid="k"`, "sig1=:AAAA:", `x=1, y="2"`)
	f.Add(`a=("@path"), a=("@query")`, "a=:AA==:", "")
	f.Add(`s=("a" "@authority");nonce=%"x"`, "s", "x, y")
	f.Fuzz(func(t *testing.T, input, signature, field string) {
		signatures, err := messagesig.Parse([]string{input}, []string{signature})
		if err != nil {
			return
		}
		message := &messagesig.Message{Method: "GET", Scheme: "https", Authority: "example.com", Header: http.Header{"A": {field}}}
		message.Request = message
		for _, s := range signatures {
			base, err := s.Base(message)
			if err != nil {
				continue
			}
			last := string(base[bytes.LastIndexByte(base, '\n')+1:])
			list, found := strings.CutPrefix(last, `"@signature-params": `)
			if !found {
				t.Fatalf("no parameters at the end of %q", base)
			}
			again, err := messagesig.Parse([]string{"s=" + list}, nil)
			if err != nil || len(again) != 1 {
				t.Fatalf("%q cannot be read again: %v", list, err)
			}
			second, err := again[0].Base(message)
			if err != nil || string(second) != string(base) {
				t.Fatalf("%q became %q, %v", base, second, err)
			}
		}
	})
}

func FuzzCheckDigest(f *testing.F) {
	f.Add(messagesig.Digest([]byte("x")), []byte("x"))
	f.Add("sha-512=:AAAA:, md5=:AA==:", []byte{})
	f.Fuzz(func(t *testing.T, value string, body []byte) {
		if messagesig.CheckDigest([]string{value}, body) != nil {
			return
		}
		if messagesig.CheckDigest([]string{value}, append(body, 'x')) == nil {
			t.Fatalf("%q holds for two bodies", value)
		}
	})
}
