package houserules

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// state checks that packages keep no state of their own. It finds the variables
// that are there to be changed: those that begin empty, and those that hold
// something made, locked or counted. A table that is only read is none.
func state(tree *Tree) []Breach {
	var found []Breach
	for _, file := range tree.Files {
		if file.Test || file.Generated {
			continue
		}
		for _, declaration := range file.Syntax.Decls {
			variables, ok := declaration.(*ast.GenDecl)
			if !ok || variables.Tok != token.VAR {
				continue
			}
			for _, spec := range variables.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || embedded(value, variables) || !changes(value) {
					continue
				}
				found = append(found, Breach{file.Path, tree.line(spec.Pos()), fmt.Sprintf("%s is state of the whole program: give it an owner", value.Names[0].Name)})
			}
		}
	}
	return found
}

// embedded reports whether the go command fills the variable from a file.
func embedded(value *ast.ValueSpec, declaration *ast.GenDecl) bool {
	for _, group := range []*ast.CommentGroup{value.Doc, declaration.Doc} {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

// changes reports whether a variable starts out empty or holds a thing that
// exists to be changed.
func changes(value *ast.ValueSpec) bool {
	if len(value.Values) == 0 {
		return true
	}
	for _, expression := range value.Values {
		if pointer, ok := expression.(*ast.UnaryExpr); ok {
			expression = pointer.X
		}
		switch expression := expression.(type) {
		case *ast.CallExpr:
			if isName(expression.Fun, "make") || isName(expression.Fun, "new") {
				return true
			}
		case *ast.CompositeLit:
			selector, ok := expression.Type.(*ast.SelectorExpr)
			if ok && (isName(selector.X, "sync") || isName(selector.X, "atomic")) {
				return true
			}
		}
	}
	return false
}
