package houserules

import (
	"fmt"
	"strings"
)

// names checks that no folder, package or file is called after being a drawer
// for what has no other place: a reader finds a thing by the name of its file.
func names(tree *Tree) []Breach {
	var found []Breach
	for _, file := range tree.Files {
		words := strings.FieldsFunc(strings.TrimSuffix(file.Path, ".go"), func(r rune) bool {
			return strings.ContainsRune("/._-", r)
		})
		for _, word := range append(words, file.Syntax.Name.Name) {
			if drawer(word) {
				found = append(found, Breach{file.Path, 0, fmt.Sprintf("%q names a drawer: say what it does", word)})
			}
		}
	}
	return found
}

func drawer(word string) bool {
	switch strings.ToLower(word) {
	case "util", "utils", "helper", "helpers", "common", "manager", "managers", "misc":
		return true
	}
	return false
}
