package houserules

import "fmt"

const (
	// fileLimit is what a file may have at most; most have fewer than 400 lines.
	fileLimit = 499
	// mainLimit is for the file that shows newcomers how little it takes.
	mainLimit = 149
	mainFile  = "examples/notes/main.go"
)

// size checks the length of files that people write and read: all but tests and
// generated files.
func size(tree *Tree) []Breach {
	var found []Breach
	for _, file := range tree.Files {
		limit := fileLimit
		if file.Path == mainFile {
			limit = mainLimit
		}
		if !file.Test && !file.Generated && file.Lines > limit {
			found = append(found, Breach{file.Path, 0, fmt.Sprintf("has %d lines, more than %d: split it by concept", file.Lines, limit)})
		}
	}
	return found
}
