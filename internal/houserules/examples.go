package houserules

import (
	"go/ast"
	"go/doc"
)

// examples checks that each public package has an example that runs: one whose
// output is compared.
func examples(tree *Tree) []Breach {
	tests := make(map[string][]*ast.File)
	for _, file := range tree.Files {
		if file.Test {
			tests[file.Dir] = append(tests[file.Dir], file.Syntax)
		}
	}
	var found []Breach
	seen := make(map[string]bool)
	for _, file := range tree.Files {
		if file.Test || seen[file.Dir] || !public(file) {
			continue
		}
		seen[file.Dir] = true
		if !anyRuns(doc.Examples(tests[file.Dir]...)) {
			found = append(found, Breach{file.Dir, 0, "no runnable example: write one with an // Output: comment"})
		}
	}
	return found
}

func anyRuns(examples []*doc.Example) bool {
	for _, example := range examples {
		if example.Output != "" || example.EmptyOutput {
			return true
		}
	}
	return false
}
