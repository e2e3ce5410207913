package readme_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/internal/readme"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		markdown string
		want     []readme.Block
	}{
		{name: "nothing", markdown: ""},
		{name: "unmarked", markdown: "```sh\nls\n```\n\n```\nls\n```\n"},
		{
			name:     "marked",
			markdown: "Try:\n\n```sh test=curl\ncurl \"$ADDR\"\n\ncurl x\n```\nend\n",
			want:     []readme.Block{{Language: "sh", Test: "curl", Text: "curl \"$ADDR\"\n\ncurl x\n", Line: 3}},
		},
		{
			name:     "attributes",
			markdown: "```go  test=client file=main.go slow\n```\n",
			want: []readme.Block{{
				Language: "go", Test: "client", Line: 1,
				Attributes: map[string]string{"file": "main.go", "slow": ""},
			}},
		},
		{
			name:     "tildes around backticks",
			markdown: "~~~~text test=a\n```sh test=b\n~~~\n```\n~~~~~\n",
			want:     []readme.Block{{Language: "text", Test: "a", Text: "```sh test=b\n~~~\n```\n", Line: 1}},
		},
		{
			name:     "a fence with words does not close",
			markdown: "```sh test=a\n``` x\n```\n",
			want:     []readme.Block{{Language: "sh", Test: "a", Text: "``` x\n", Line: 1}},
		},
		{
			name:     "indented",
			markdown: "  ```sh test=a\n  one\n    two\n three\n  ```\n\n    ```sh test=b\n",
			want:     []readme.Block{{Language: "sh", Test: "a", Text: "one\n  two\nthree\n", Line: 1}},
		},
		{name: "code in a paragraph", markdown: "```sh test=a``` is no fence\n``\n"},
		{
			name:     "no line break at the end",
			markdown: "```sh test=a\nls\n```",
			want:     []readme.Block{{Language: "sh", Test: "a", Text: "ls\n", Line: 1}},
		},
		{
			name:     "the language is not an attribute",
			markdown: "```test=a test=b\n```\n",
			want:     []readme.Block{{Language: "test=a", Test: "b", Line: 1}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := readme.Parse(test.markdown)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, markdown, want string }{
		{"not closed", "\n```sh\nls\n", "line 2: the block is not closed"},
		{"same name", "```sh test=a\n```\n```sh test=a\n```\n", `line 3: a block named "a" stands in line 1 already`},
		{"no name", "```sh test=\n```\n", "line 1: test= without a name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			blocks, err := readme.Parse(test.markdown)
			if err == nil {
				t.Fatalf("want the error %q, got %v", test.want, blocks)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	blocks := []readme.Block{{Test: "a"}, {Test: "b", Line: 2}}
	if got, ok := readme.Find(blocks, "b"); !ok || got.Line != 2 {
		t.Errorf("b: want line 2, got line %d, %v", got.Line, ok)
	}
	if _, ok := readme.Find(blocks, "c"); ok {
		t.Error("c: want nothing, got a block")
	}
}

// TestReadme holds the README to its promises that need nothing to run: the
// blocks that other tests run are there in this order, and defining and serving
// a capability takes fewer than thirty lines.
func TestReadme(t *testing.T) {
	t.Parallel()
	markdown, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := readme.Parse(string(markdown))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, block := range blocks {
		got = append(got, block.Language+" "+block.Test)
	}
	want := []string{
		"sh serve", "sh curl", "json curl-answer", "sh inspector", "json inspector-answer", "go client", "sh client-run", "text client-answer",
		"sh call", "json call-answer",
		"go hello",
		"sh keys", "text keys-answer",
		"sh issuer", "sh serve-oauth", "sh no-token", "text no-token-answer", "sh metadata", "json metadata-answer", "sh token",
		"sh with-token", "json with-token-answer", "sh narrow-token", "text narrow-token-answer", "sh wider-token", "json wider-token-answer",
		"sh agent-key", "sh serve-agents", "sh unsigned", "json unsigned-answer", "sh signed", "json signed-answer",
		"sh purge", "json purge-answer", "sh purge-confirmed", "json purge-confirmed-answer",
		"sh mcp-purge", "json mcp-purge-answer", "sh approve", "text approve-answer", "sh mcp-purge-again", "json mcp-purge-again-answer",
		"sh publish", "json publish-answer", "sh approve-own", "json approve-own-answer", "sh approve-other", "text approve-other-answer",
		"sh published", "json published-answer", "sh verify", "json verify-answer", "sh serve-postgres",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marked blocks (-want +got):\n%s", diff)
	}
	hello, _ := readme.Find(blocks, "hello")
	lines := 0
	for line := range strings.Lines(hello.Text) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines == 0 || lines >= 30 {
		t.Errorf("the program: want fewer than 30 lines of code, got %d", lines)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("```sh test=a\nls\n```\n")
	f.Add("~~~~\n```\n~~~~\n  ``` x test=b c\n```")
	f.Fuzz(func(t *testing.T, markdown string) {
		blocks, err := readme.Parse(markdown)
		if err != nil {
			return
		}
		for _, block := range blocks {
			if block.Test == "" || block.Line < 1 || len(block.Text) > len(markdown) {
				t.Errorf("want a named block within the text, got %+v", block)
			}
		}
	})
}

func ExampleParse() {
	blocks, err := readme.Parse("Say hello:\n\n```sh test=hello\necho hello\n```\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s", blocks[0].Test, blocks[0].Text)
	// Output: hello: echo hello
}
