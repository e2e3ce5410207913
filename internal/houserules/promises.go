package houserules

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

const (
	rulesPage = "docs/security.md"
	lastRule  = 33
)

// promises checks that docs/security.md says of each security rule where it is
// enforced, and that this is what the tests show: a folder that is named has a
// test named after the rule, and a folder with such a test is named.
func promises(tree *Tree) []Breach {
	page := tree.text(rulesPage)
	if page == "" {
		return []Breach{{rulesPage, 0, "is missing"}}
	}
	stated, found := statedRules(page)
	shown := ruleTests(tree)
	for number := 1; number <= lastRule; number++ {
		rule := fmt.Sprintf("T%02d", number)
		line, ok := stated[rule]
		if !ok {
			found = append(found, Breach{rulesPage, 0, rule + " has no section with a line that begins with Enforced"})
			continue
		}
		for dir := range line.folders {
			if !shown[rule][dir] {
				found = append(found, Breach{rulesPage, line.number, fmt.Sprintf("%s claims %s, which has no test named Test%s_", rule, titled(dir), rule)})
			}
		}
		for dir := range shown[rule] {
			if !line.folders[dir] {
				found = append(found, Breach{rulesPage, line.number, fmt.Sprintf("%s does not name %s, which has a test named Test%s_", rule, titled(dir), rule)})
			}
		}
	}
	return found
}

// enforcedLine is the line of a rule's section that says where it is enforced.
type enforcedLine struct {
	number  int
	folders map[string]bool
}

// statedRules reads the rules' sections. Folders stand in backticks, the root as
// ambit. A line that names none has to say that nothing enforces the rule yet.
func statedRules(page string) (map[string]enforcedLine, []Breach) {
	heading := regexp.MustCompile(`^### (T\d\d) `)
	folder := regexp.MustCompile("`([^`]+)`")
	stated := make(map[string]enforcedLine)
	var found []Breach
	rule, number := "", 0
	for line := range strings.Lines(page) {
		number++
		if match := heading.FindStringSubmatch(line); match != nil {
			rule = match[1]
		}
		if rule == "" || !strings.HasPrefix(line, "Enforced ") {
			continue
		}
		folders := make(map[string]bool)
		for _, match := range folder.FindAllStringSubmatch(line, -1) {
			dir := match[1]
			if dir == "ambit" {
				dir = "."
			}
			folders[dir] = true
		}
		if len(folders) == 0 && strings.TrimSpace(line) != "Enforced by: nothing yet." {
			found = append(found, Breach{rulesPage, number, rule + " names no folder and does not say: Enforced by: nothing yet."})
		}
		stated[rule] = enforcedLine{number, folders}
	}
	return stated, found
}

// ruleTests returns, by rule, the folders that have a test named after it.
func ruleTests(tree *Tree) map[string]map[string]bool {
	name := regexp.MustCompile(`^(?:Test|Fuzz)(T\d\d)_`)
	shown := make(map[string]map[string]bool)
	for _, file := range tree.Files {
		for _, declaration := range file.Syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !file.Test {
				continue
			}
			if match := name.FindStringSubmatch(function.Name.Name); match != nil {
				if shown[match[1]] == nil {
					shown[match[1]] = make(map[string]bool)
				}
				shown[match[1]][file.Dir] = true
			}
		}
	}
	return shown
}

// titled returns a folder as documents name it.
func titled(dir string) string {
	if dir == "." {
		return "ambit"
	}
	return dir
}
