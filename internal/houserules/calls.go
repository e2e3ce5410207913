package houserules

import (
	"go/ast"
	"go/token"
	"regexp"
)

// calls checks what functions do: a panic stands only in a function whose
// comment speaks of it, nothing happens in an init function, and no test sleeps,
// unless on the false clock of testing/synctest.
func calls(tree *Tree) []Breach {
	panics := regexp.MustCompile(`(?i)\bpanics?\b`)
	var found []Breach
	for _, file := range tree.Files {
		report := func(at token.Pos, message string) {
			found = append(found, Breach{file.Path, tree.line(at), message})
		}
		falseClock := file.imports("testing/synctest")
		for _, declaration := range file.Syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if ok && !file.Test && function.Recv == nil && function.Name.Name == "init" {
				report(function.Pos(), "init runs before the program: make it a function that is called")
			}
			mayPanic := file.Test || ok && panics.MatchString(function.Doc.Text())
			ast.Inspect(declaration, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				switch {
				case !ok:
				case !mayPanic && isName(call.Fun, "panic"):
					report(call.Pos(), "panics: return an error, or say in the function's comment when it panics")
				case file.Test && !falseClock && isSelector(call.Fun, "time", "Sleep"):
					report(call.Pos(), "sleeps in a test: wait for the event, or use testing/synctest")
				}
				return true
			})
		}
	}
	return found
}

// imports reports whether the file itself imports a package.
func (f *File) imports(name string) bool {
	for _, spec := range f.Syntax.Imports {
		if importPath(spec) == name {
			return true
		}
	}
	return false
}

func isName(expression ast.Expr, name string) bool {
	identifier, ok := expression.(*ast.Ident)
	return ok && identifier.Name == name
}

func isSelector(expression ast.Expr, of, name string) bool {
	selector, ok := expression.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == name && isName(selector.X, of)
}
