package houserules

import (
	"fmt"
	"strings"
)

// imports checks who of this tree imports whom: never a higher floor, never the
// room next door where rooms stand apart, engines only from programs, and other
// modules never from the root module. Tests inside a package are bound like its
// code; external tests are free within their module.
func imports(tree *Tree) []Breach {
	var found []Breach
	for _, file := range tree.Files {
		from, ok := placeOf(file.Dir)
		if !ok {
			found = append(found, Breach{file.Path, 0, "this folder has no place in the house: see docs/design.md"})
			continue
		}
		for _, spec := range file.Syntax.Imports {
			target, ok := tree.own(importPath(spec))
			if !ok || file.External && tree.moduleOf(target) == file.Module {
				continue
			}
			if why := tree.mayNotImport(file, from, target); why != "" {
				found = append(found, Breach{file.Path, tree.line(spec.Pos()), why})
			}
		}
	}
	return found
}

// mayNotImport returns why a file may not import a folder of this tree, or "".
func (t *Tree) mayNotImport(file *File, from place, target string) string {
	to, ok := placeOf(target)
	switch {
	case !ok:
		return fmt.Sprintf("imports %s, which has no place in the house", target)
	case to.floor > from.floor:
		return fmt.Sprintf("%s imports %s, which stands higher", from.room, to.room)
	case to.floor == from.floor && to.room != from.room && from.floor.apart() && target != "trust/audit":
		return fmt.Sprintf("%s imports %s, which stands beside it", from.room, to.room)
	case engine(target) != "" && engine(target) != engine(file.Dir) && from.floor < programFloor:
		return fmt.Sprintf("%s imports the engine %s: only programs choose an engine", from.room, engine(target))
	case file.Module == t.Modules[0] && t.moduleOf(target) != file.Module && from.floor < programFloor:
		return fmt.Sprintf("the root module imports %s, which is another module", t.moduleOf(target).Dir)
	}
	return ""
}

// reach checks that the root package knows no HTTP and no SQL, neither itself
// nor by way of what it imports of this tree.
func reach(tree *Tree) []Breach {
	var found []Breach
	seen := map[string]bool{".": true}
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		for _, file := range tree.Files {
			if file.Dir != dir || file.External || file.Test && dir != "." {
				continue
			}
			for _, spec := range file.Syntax.Imports {
				name := importPath(spec)
				if under(name, "net/http") || under(name, "database/sql") {
					found = append(found, Breach{file.Path, tree.line(spec.Pos()), "imports " + name + " within reach of the root package, which knows no HTTP and no SQL"})
				}
				if next, ok := tree.own(name); ok && !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return found
}

// foreign reports whether an import path is neither of this tree nor of the
// standard library, whose paths have no dot in their first element.
func (t *Tree) foreign(imported string) bool {
	if _, own := t.own(imported); own {
		return false
	}
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}
