package houserules_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ambit-dev/ambit/internal/houserules"
)

var update = flag.Bool("update", false, "rewrite the want section of the cases in testdata")

// wanted is the section of a case that lists what its check must find.
const wanted = "want"

// TestHouse runs every check over the repository itself.
func TestHouse(t *testing.T) {
	t.Parallel()
	tree, err := houserules.Load(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range houserules.Checks() {
		t.Run(check.Name, func(t *testing.T) {
			t.Parallel()
			for _, breach := range check.Run(tree) {
				t.Error(breach)
			}
		})
	}
}

// TestChecks shows that each check finds what it is for, and nothing else. A
// case is a small tree that breaks the rule in every way it knows.
func TestChecks(t *testing.T) {
	t.Parallel()
	for _, check := range houserules.Checks() {
		cases, err := filepath.Glob(filepath.Join("testdata", check.Name, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Errorf("the check %q has no case in testdata", check.Name)
		}
		for _, name := range cases {
			t.Run(check.Name+"/"+strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
				t.Parallel()
				runCase(t, check, name)
			})
		}
	}
}

func runCase(t *testing.T, check houserules.Check, name string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fsys := make(fstest.MapFS)
	want := ""
	for _, file := range archive.Files {
		if file.Name == wanted {
			want = string(file.Data)
			continue
		}
		fsys[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	tree, err := houserules.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, breach := range check.Run(tree) {
		got.WriteString(breach.String() + "\n")
	}
	if *update {
		archive.Files = slices.DeleteFunc(archive.Files, func(file txtar.File) bool { return file.Name == wanted })
		archive.Files = append(archive.Files, txtar.File{Name: wanted, Data: []byte(got.String())})
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("breaches (-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{
			name:  "no module",
			files: fstest.MapFS{"a.go": {Data: []byte("package a\n")}},
			want:  "no go.mod in the root of the tree",
		},
		{
			name: "no Go",
			files: fstest.MapFS{
				"go.mod": {Data: []byte("module example.com/a\n")},
				"a.go":   {Data: []byte("pakcage a\n")},
			},
			want: "a.go:1:1: expected 'package', found pakcage",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := houserules.Load(test.files)
			if err == nil {
				t.Fatalf("want the error %q, got none", test.want)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
