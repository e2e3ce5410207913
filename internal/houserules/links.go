package houserules

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// links checks that what Markdown files point to in this tree is there. Links to
// elsewhere and to parts of the same page are not followed.
func links(tree *Tree) []Breach {
	target := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	var found []Breach
	err := fs.WalkDir(tree.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		number := 0
		for line := range strings.Lines(tree.text(name)) {
			number++
			for _, match := range target.FindAllStringSubmatch(line, -1) {
				file, _, _ := strings.Cut(match[1], "#")
				if file == "" || strings.Contains(file, ":") {
					continue
				}
				if _, err := fs.Stat(tree.fsys, path.Join(path.Dir(name), file)); err != nil {
					found = append(found, Breach{name, number, "points to " + file + ", which is not there"})
				}
			}
		}
		return nil
	})
	if err != nil {
		found = append(found, Breach{".", 0, "cannot be read to the end: " + err.Error()})
	}
	return found
}
