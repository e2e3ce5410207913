package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parse func(string) []draft
		text  string
		want  []draft
	}{
		{"one note", parseMarkdown, "# A\n\nbody\n", []draft{{title: "A", body: "body"}}},
		{"two notes", parseMarkdown, "# A\nx\n\ny\n# B\nz", []draft{{title: "A", body: "x\n\ny"}, {title: "B", body: "z"}}},
		{"Windows line ends", parseMarkdown, "# A\r\nTags: b\r\n\r\nx\r\ny\r\n", []draft{{title: "A", body: "x\ny", tags: []string{"b"}}}},
		{"tags", parseMarkdown, "# A\nTags: b, c,,\nx", []draft{{title: "A", body: "x", tags: []string{"b", "c"}}}},
		{"tags further down are text", parseMarkdown, "# A\n\nTags: b", []draft{{title: "A", body: "Tags: b"}}},
		{"lower headings are text", parseMarkdown, "# A\n## B\n#c", []draft{{title: "A", body: "## B\n#c"}}},
		{"headings in code are code", parseMarkdown, "# A\n```sh\n# not a note\n```\n# B\n~~~~\n# no\n~~~\n# no\n~~~~", []draft{{title: "A", body: "```sh\n# not a note\n```"}, {title: "B", body: "~~~~\n# no\n~~~\n# no\n~~~~"}}},
		{"an inline code span opens nothing", parseMarkdown, "# A\n``` x ```\n# B", []draft{{title: "A", body: "``` x ```"}, {title: "B"}}},
		{"an escaped heading", parseMarkdown, "# A\n\\# x\n\\\\# y", []draft{{title: "A", body: "# x\n\\# y"}}},
		{"text before the first heading", parseMarkdown, "preface\n# A\nx", []draft{{title: "A", body: "x"}}},
		{"no heading at all", parseMarkdown, "just\nsome text", []draft{{title: "just", body: "some text"}}},
		{"blank", parseMarkdown, " \n\n", nil},
		{"empty title", parseMarkdown, "# \nx", []draft{{body: "x"}}},
		{"plain text", parseText, "A\nx\n---\n\n B \n\ny\n---\n---\n", []draft{{title: "A", body: "x"}, {title: "B", body: "y"}}},
		{"a longer rule is text", parseText, "A\n----\n", []draft{{title: "A", body: "----"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.parse(tt.text), cmp.AllowUnexported(draft{})); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	drafts := parseMarkdown(seed)
	if len(drafts) != 41 {
		t.Errorf("want 41 notes, got %d", len(drafts))
	}
	if err := checkDrafts(drafts); err != nil {
		t.Error(err)
	}
	for _, d := range drafts {
		if d.body == "" || len(d.tags) == 0 {
			t.Errorf("%q has no text or no tags", d.title)
		}
	}
}

// FuzzMarkdown holds that what was once imported is exported and imported
// again without a change.
func FuzzMarkdown(f *testing.F) {
	f.Add(seed)
	f.Add("# A\nTags:\nTags: not, tags\n\\# x\n```\n# open")
	f.Add("# A\n~~~\n```\n# x\n~~~\n# B\n\n\n\r\n")
	f.Add("0\n0\r\r\r\r\n0")
	f.Fuzz(func(t *testing.T, text string) {
		first := parseMarkdown(text)
		var b strings.Builder
		for _, d := range first {
			if d.title == "" {
				t.Skip("an import refuses a note without a title")
			}
			appendMarkdown(&b, d)
		}
		second := parseMarkdown(b.String())
		var again strings.Builder
		for _, d := range second {
			appendMarkdown(&again, d)
		}
		if diff := cmp.Diff(b.String(), again.String()); diff != "" {
			t.Errorf("the second export (-first +second):\n%s", diff)
		}
		if len(first) != len(second) {
			t.Errorf("want %d notes again, got %d", len(first), len(second))
		}
	})
}
