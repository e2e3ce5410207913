package houserules

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// texts checks everything that is text, whatever its kind, for what only means
// something on one machine or network: paths of somebody's folders, and hosts of
// package registries. A lock file names packages and digests, not a place to
// fetch them from.
func texts(tree *Tree) []Breach {
	rules := []struct {
		what    *regexp.Regexp
		message string
	}{
		{regexp.MustCompile(`(^|[\s"'(=:<>])/(work|tmp|root|home|Users)/`), "names a folder of one machine"},
		{regexp.MustCompile(`\b(registry\.(npmjs|yarnpkg)\.|npm\.pkg\.github\.|(proxy|sum)\.golang\.)`), "names the host of a registry"},
		{regexp.MustCompile(`"resolved": "https?:`), "names where a package is fetched from"},
	}
	var found []Breach
	err := fs.WalkDir(tree.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && exempt(name):
			return fs.SkipDir
		case !entry.Type().IsRegular() || name == ".git": // a file, in a second working tree
			return nil
		}
		content, err := fs.ReadFile(tree.fsys, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(content, 0) >= 0 || !utf8.Valid(content) {
			return nil
		}
		number := 0
		for line := range bytes.Lines(content) {
			number++
			for _, rule := range rules {
				if rule.what.Match(line) {
					found = append(found, Breach{name, number, rule.message})
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

// exempt reports whether the texts of a folder are not this project's, or are
// the cases of this very rule.
func exempt(dir string) bool {
	base := path.Base(dir)
	return strings.HasPrefix(base, ".git") && base != ".github" || base == "node_modules" ||
		dir == "internal/houserules"
}
