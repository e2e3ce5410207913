package houserules

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// documented checks that each package outside of programs says what it is, and
// that every exported name has a comment. The comment of a function, method,
// type, or of a constant or variable that stands alone begins with its name; for
// one of a group, a field or an interface's method any comment will do, and for
// a field also a doc tag, which is the comment that callers see.
func documented(tree *Tree) []Breach {
	var found []Breach
	described := make(map[string]bool)
	for _, file := range tree.Files {
		described[file.Dir] = described[file.Dir] || file.Syntax.Doc != nil
	}
	reported := make(map[string]bool)
	for _, file := range tree.Files {
		if file.Test || file.Generated {
			continue
		}
		if !described[file.Dir] && !reported[file.Dir] {
			reported[file.Dir] = true
			found = append(found, Breach{file.Dir, 0, "no package comment"})
		}
		if file.Syntax.Name.Name == "main" {
			continue
		}
		comments := comments{tree: tree, file: file}
		for _, declaration := range file.Syntax.Decls {
			comments.declaration(declaration)
		}
		found = append(found, comments.found...)
	}
	return found
}

// comments looks at the declarations of one file.
type comments struct {
	tree  *Tree
	file  *File
	found []Breach
}

func (c *comments) report(at token.Pos, format string, args ...any) {
	c.found = append(c.found, Breach{c.file.Path, c.tree.line(at), fmt.Sprintf(format, args...)})
}

func (c *comments) declaration(declaration ast.Decl) {
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		if declaration.Name.IsExported() && exportedReceiver(declaration) {
			c.begins(declaration.Name, declaration.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					c.begins(spec.Name, either(spec.Doc, alone(declaration)))
					c.members(spec)
				}
			case *ast.ValueSpec:
				c.value(spec, declaration)
			}
		}
	}
}

// value checks a constant or variable. The comment of a group may speak for all
// that it holds.
func (c *comments) value(spec *ast.ValueSpec, declaration *ast.GenDecl) {
	for _, name := range spec.Names {
		switch {
		case !name.IsExported():
		case !declaration.Lparen.IsValid():
			c.begins(spec.Names[0], declaration.Doc)
			return
		case spec.Doc == nil && spec.Comment == nil && declaration.Doc == nil:
			c.report(name.Pos(), "%s has no comment", name.Name)
		}
	}
}

// members checks the fields of a struct and the methods of an interface. One
// comment may speak for several that follow each other, if it names them.
func (c *comments) members(spec *ast.TypeSpec) {
	var fields *ast.FieldList
	switch kind := spec.Type.(type) {
	case *ast.StructType:
		fields = kind.Fields
	case *ast.InterfaceType:
		fields = kind.Methods
	default:
		return
	}
	if !public(c.file) {
		return
	}
	above, end := "", 0
	for _, field := range fields.List {
		if field.Doc != nil {
			above = field.Doc.Text()
		} else if c.tree.line(field.Pos()) != end+1 {
			above = ""
		}
		end = c.tree.line(field.End())
		for _, name := range field.Names {
			if name.IsExported() && field.Doc == nil && field.Comment == nil && !hasDocTag(field) && !mentions(above, name.Name) {
				c.report(name.Pos(), "%s.%s has no comment", spec.Name.Name, name.Name)
			}
		}
	}
}

// mentions reports whether a comment speaks of a name.
func mentions(comment, name string) bool {
	words := strings.FieldsFunc(comment, func(r rune) bool { return !partOfName(r) })
	return slices.Contains(words, name)
}

// begins checks that a comment is there and opens with the name it explains.
func (c *comments) begins(name *ast.Ident, doc *ast.CommentGroup) {
	if doc == nil {
		c.report(name.Pos(), "%s has no comment", name.Name)
		return
	}
	text := doc.Text()
	for _, article := range []string{"A ", "An ", "The "} {
		text = strings.TrimPrefix(text, article)
	}
	rest, ok := strings.CutPrefix(text, name.Name)
	if !ok || strings.IndexFunc(rest, partOfName) == 0 {
		c.report(name.Pos(), "the comment of %s does not begin with its name", name.Name)
	}
}

func partOfName(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// alone returns the comment above a declaration that declares a single thing.
func alone(declaration *ast.GenDecl) *ast.CommentGroup {
	if declaration.Lparen.IsValid() {
		return nil
	}
	return declaration.Doc
}

func either(first, second *ast.CommentGroup) *ast.CommentGroup {
	if first != nil {
		return first
	}
	return second
}

// exportedReceiver reports whether a function is none of an unexported type's
// methods, which no reader of the documentation gets to see.
func exportedReceiver(function *ast.FuncDecl) bool {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return true
	}
	receiver := function.Recv.List[0].Type
	for {
		switch kind := receiver.(type) {
		case *ast.StarExpr:
			receiver = kind.X
		case *ast.IndexExpr:
			receiver = kind.X
		case *ast.IndexListExpr:
			receiver = kind.X
		case *ast.Ident:
			return kind.IsExported()
		default:
			return true
		}
	}
}

func hasDocTag(field *ast.Field) bool {
	if field.Tag == nil {
		return false
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return false
	}
	_, ok := reflect.StructTag(tag).Lookup("doc")
	return ok
}
