package houserules

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Tree is the source of a checkout, read once. It is not modified after [Load]
// and safe for concurrent use.
type Tree struct {
	// Modules are the Go modules, the root first, then by folder.
	Modules []*Module
	// Files are the Go files by path, without those in testdata.
	Files []*File

	fsys      fs.FS
	positions *token.FileSet
}

// File is one Go file.
type File struct {
	// Path is the file's path in the tree, with slashes.
	Path string
	// Dir is the folder of Path; the root is ".".
	Dir string
	// Module is the innermost module that the file belongs to.
	Module *Module
	// Test reports whether the name ends in _test.go.
	Test bool
	// External reports whether it is a test of another package than the
	// folder's own, which sees that package as any importer does.
	External bool
	// Generated reports whether the file says that it is generated.
	Generated bool
	// Lines is the number of lines.
	Lines int
	// Syntax is the parsed file, with comments.
	Syntax *ast.File
}

// Load reads all Go files and go.mod files below the root of fsys. Folders named
// testdata, vendor or node_modules, and those that begin with a dot or an
// underscore, are passed over, as the go command does. It fails on a file that
// is no Go, and on a tree without a go.mod in its root.
func Load(fsys fs.FS) (*Tree, error) {
	tree := &Tree{fsys: fsys, positions: token.NewFileSet()}
	if err := tree.walk(tree.addModule, "go.mod"); err != nil {
		return nil, err
	}
	if len(tree.Modules) == 0 || tree.Modules[0].Dir != "." {
		return nil, fmt.Errorf("no go.mod in the root of the tree")
	}
	if err := tree.walk(tree.addFile, ".go"); err != nil {
		return nil, err
	}
	return tree, nil
}

// walk calls add for each file whose name ends as given. Files of a folder come
// before those of its subfolders, so that the root module is the first.
func (t *Tree) walk(add func(path string, source []byte) error, ending string) error {
	var folder func(dir string) error
	folder = func(dir string) error {
		entries, err := fs.ReadDir(t.fsys, dir)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.IsDir() || !strings.HasSuffix(entry.Name(), ending) {
				continue
			}
			name := path.Join(dir, entry.Name())
			source, err := fs.ReadFile(t.fsys, name)
			if err != nil {
				return err
			}
			if err := add(name, source); err != nil {
				return err
			}
		}
		for _, entry := range entries {
			if !entry.IsDir() || passedOver(entry.Name()) || entry.Name() == "testdata" {
				continue
			}
			if err := folder(path.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
		return nil
	}
	return folder(".")
}

func passedOver(folder string) bool {
	return folder == "vendor" || folder == "node_modules" ||
		strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func (t *Tree) addFile(name string, source []byte) error {
	syntax, err := parser.ParseFile(t.positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	t.Files = append(t.Files, &File{
		Path:      name,
		Dir:       path.Dir(name),
		Module:    t.moduleOf(path.Dir(name)),
		Test:      test,
		External:  test && strings.HasSuffix(syntax.Name.Name, "_test"),
		Generated: ast.IsGenerated(syntax),
		Lines:     bytes.Count(source, []byte("\n")),
		Syntax:    syntax,
	})
	return nil
}

// line returns the line of a position in one of the tree's files.
func (t *Tree) line(at token.Pos) int {
	return t.positions.Position(at).Line
}

// importPath returns the path that an import declaration names.
func importPath(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser has seen to it that this is a string
		return spec.Path.Value
	}
	return name
}

// own returns the folder of an imported package that belongs to this tree.
func (t *Tree) own(imported string) (dir string, ok bool) {
	root := t.Modules[0].Path
	if imported == root {
		return ".", true
	}
	return strings.CutPrefix(imported, root+"/")
}

// under reports whether dir is folder or lies below it.
func under(dir, folder string) bool {
	return folder == "." || dir == folder || strings.HasPrefix(dir, folder+"/")
}
