package houserules

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is what the rules need to know of a go.mod file.
type Module struct {
	// Dir is the folder of the go.mod file; the root is ".".
	Dir string
	// Path is the module path that it declares.
	Path string
	// Direct are the modules that it requires for its own code, without those
	// marked as indirect.
	Direct []string
}

func (t *Tree) addModule(name string, source []byte) error {
	if path.Base(name) == "go.mod" {
		t.Modules = append(t.Modules, parseModule(path.Dir(name), string(source)))
	}
	return nil
}

// parseModule reads the few directives that matter here. The go command has
// already refused a file that is malformed.
func parseModule(dir, source string) *Module {
	module := &Module{Dir: dir}
	block := ""
	for line := range strings.Lines(source) {
		code, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(code)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = slices.Insert(words, 0, block)
		}
		switch {
		case words[0] == "module" && len(words) == 2:
			module.Path = words[1]
		case words[0] == "require" && len(words) == 3 && strings.TrimSpace(comment) != "indirect":
			module.Direct = append(module.Direct, words[1])
		}
	}
	return module
}

// moduleOf returns the innermost module that holds a folder.
func (t *Tree) moduleOf(dir string) *Module {
	found := t.Modules[0]
	for _, module := range t.Modules {
		if under(dir, module.Dir) && len(module.Dir) >= len(found.Dir) {
			found = module
		}
	}
	return found
}

// modules checks what ties the modules together: a module is named after its
// folder, go.work lists it, a module other than the root takes Ambit from this
// tree, and each dependency is explained in docs/dependencies.md.
func modules(tree *Tree) []Breach {
	var found []Breach
	root := tree.Modules[0].Path
	explained := tree.text("docs/dependencies.md")
	used := usedFolders(tree.text("go.work"))
	for _, module := range tree.Modules {
		file := path.Join(module.Dir, "go.mod")
		if want := path.Join(root, module.Dir); module.Path != want {
			found = append(found, Breach{file, 0, "a module is named after its folder: want " + want + ", got " + module.Path})
		}
		if !used[module.Dir] {
			found = append(found, Breach{file, 0, "go.work does not use this module"})
		}
		for _, name := range module.Direct {
			_, own := tree.own(name)
			if !own && !strings.Contains(explained, "`"+name+"`") {
				found = append(found, Breach{file, 0, "docs/dependencies.md does not say what `" + name + "` is for"})
			}
		}
	}
	return found
}

// usedFolders returns the folders that a go.work file lists.
func usedFolders(work string) map[string]bool {
	used := make(map[string]bool)
	block := false
	for line := range strings.Lines(work) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "use" && len(words) == 2 && words[1] == "(":
			block = true
		case words[0] == ")":
			block = false
		case words[0] == "use" && len(words) == 2:
			used[path.Clean(words[1])] = true
		case block:
			used[path.Clean(words[0])] = true
		}
	}
	return used
}

// text returns a file's content, or nothing where there is no such file.
func (t *Tree) text(name string) string {
	content, err := fs.ReadFile(t.fsys, name)
	if err != nil {
		return ""
	}
	return string(content)
}
