package approval_test

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/approval"
)

func TestT10_Markup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                        `{}`,
		"{\n  \"a\": [1, \"b\"]\n}": "{\n  <bdi class=\"key\">&#34;a&#34;</bdi>: [<span class=\"lit\">1</span>, <bdi class=\"str\">&#34;b&#34;</bdi>]\n}",
		`"<b>\"\\"`:                 `<bdi class="str">&#34;&lt;b&gt;\&#34;\\&#34;</bdi>`,
		"\"a\u202eb\"":              `<bdi class="str">&#34;a\u202eb&#34;</bdi>`,
		`-1.5e+3`:                   `<span class="lit">-1.5e+3</span>`,
		`null`:                      `<span class="lit">null</span>`,
		`""`:                        `<bdi class="str">&#34;&#34;</bdi>`,
	} {
		if diff := cmp.Diff(want, approval.Markup([]byte(text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzMarkup shows that JSON keeps its value on the page, whatever it holds, and
// that no markup comes out of it.
func FuzzMarkup(f *testing.F) {
	for _, seed := range []string{"plain", `"\`, "a\nb\u202e", "</pre><script>", "שלום", "&amp;"} {
		f.Add(seed)
	}
	tags := regexp.MustCompile(`</?(?:bdi|span)(?: class="(?:key|str|lit)")?>`)
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.MarshalIndent(map[string]any{s: []any{s, 1.5, nil}}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		marked := approval.Markup(text)
		bare := tags.ReplaceAllString(marked, "")
		if strings.ContainsAny(bare, "<>") {
			t.Fatalf("markup came out of %q: %s", s, marked)
		}
		if i := strings.IndexFunc(bare, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%q is not safe to show: %q", s, bare)
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(html.UnescapeString(bare)), &got); err != nil {
			t.Fatalf("%s: %v", marked, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	})
}
