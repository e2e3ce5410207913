package houserules

import (
	"slices"
	"strings"
)

// public reports whether applications may import the package of a file: it is
// no program, not internal, and not part of the examples, benchmarks or tests
// against foreign clients.
func public(file *File) bool {
	if file.Syntax.Name.Name == "main" || slices.Contains(strings.Split(file.Dir, "/"), "internal") {
		return false
	}
	at, _ := placeOf(file.Dir)
	return at.floor < programFloor
}
