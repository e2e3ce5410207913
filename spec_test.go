package ambit_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
)

// Whoever writes a capability finds every field of its contract in one table.
func TestSpecIsInTheDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/capabilities.md")
	if err != nil {
		t.Fatal(err)
	}
	var named strings.Builder // the first column of the tables
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			first, _, _ := strings.Cut(row, " | ")
			named.WriteString("`" + first)
		}
	}
	for field := range reflect.TypeFor[ambit.Spec]().Fields() {
		if !strings.Contains(named.String(), "`"+field.Name+"`") {
			t.Errorf("docs/capabilities.md: no row of the table is for Spec.%s", field.Name)
		}
	}
}
