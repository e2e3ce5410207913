package ambittest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
)

// Golden fails the test where a text is not what a file holds, and shows the
// difference; a file that is missing ends the test. With update it writes the file
// instead, and its folder where that is missing: give it a flag of the test, as in
// flag.Bool("update", false, "..."), and read what a run with the flag changes.
func Golden(t T, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatalf("%v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("there is no golden file %s yet: run the test with the flag that Golden is given as update, as in go test -update, and read what it writes", path)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
