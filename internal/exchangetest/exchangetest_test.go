package exchangetest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/exchangetest"
)

// mirror answers with what it was asked, and a number that is never the same.
type mirror struct{ asked int }

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header()["Content-Type"], w.Header()["X-Given"] = nil, r.Header["X-Given"]
	fmt.Fprintf(w, "%s %s%s %q %d no. %d", r.Method, r.Host, r.URL.RequestURI(), body, r.ContentLength, m.asked)
}

func client() exchangetest.Client {
	return exchangetest.Client{
		Header: func(method string) http.Header { return http.Header{"X-Given": {"by " + method}} },
		Short: func(header http.Header, line string) bool {
			if line == "two" {
				header["X-Given"] = []string{"one", "two"}
			}
			return line == "two"
		},
		Body: func(body []byte) []byte { return []byte(strings.ReplaceAll(string(body), "WORD", "word")) },
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ request, want string }{
		{"GET /a?b=c", "200\nX-Given: by GET\n\nGET localhost/a?b=c \"\" 0 no. 1\n"},
		{"POST /\nx-given: own\n\na WORD\\xFF\n", "200\nX-Given: own\n\nPOST localhost/ \"a word\\xff\" 7 no. 1\n"},
		{"POST /\nX-Given: a\nX-Given: b\nHost: other\nContent-Length: 9\n\nx", "200\nX-Given: a\nX-Given: b\n\nPOST other/ \"x\" 9 no. 1\n"},
		{"POST /\nX-Given: (none)", "200\n\nPOST localhost/ \"\" 0 no. 1\n"},
		{"POST /\ntwo", "200\nX-Given: one\nX-Given: two\n\nPOST localhost/ \"\" 0 no. 1\n"},
	} {
		if diff := cmp.Diff(test.want, client().Answer(t, &mirror{}, []byte(test.request))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.request, diff)
		}
	}
	for _, text := range []string{"", "GET", "GET /\nno header", "GET /\nContent-Length: x"} {
		if _, err := client().Parse([]byte(text)); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
}

// What is played with Update is what is expected from then on, whatever differs.
func TestPlay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "play.txtar")
	const script = "A play.\n-- a: request --\nGET /\n-- meanwhile: say --\nhello\n-- pause: wait --\n0s\n-- b: request --\nGET /?of=NUMBER\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	handler := &mirror{}
	var said []string
	play := exchangetest.Script{
		Handler: handler,
		Blanks:  []exchangetest.Blank{{Found: regexp.MustCompile(`no\. ([0-9]+)`), Name: "NUMBER", Returned: true}, {Found: regexp.MustCompile(`of=[0-9]+`), Name: "OF"}},
		Steps:   map[string]func(string){"say": func(text string) { said = append(said, text) }},
	}
	writing := client()
	writing.Update = true
	writing.Play(t, file, play)
	got, err := os.ReadFile(file)
	const want = "A play.\n-- a: request --\nGET /\n-- a: answer --\n200\nX-Given: by GET\n\nGET localhost/ \"\" 0 no. NUMBER\n" +
		"-- meanwhile: say --\nhello\n-- pause: wait --\n0s\n" +
		"-- b: request --\nGET /?of=NUMBER\n-- b: answer --\n200\nX-Given: by GET\n\nGET localhost/?OF \"\" 0 no. NUMBER\n"
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	client().Play(t, file, play)
	if handler.asked != 4 || len(said) != 2 {
		t.Errorf("want four requests and two steps, got %d and %d", handler.asked, len(said))
	}
}
