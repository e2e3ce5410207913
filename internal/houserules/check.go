package houserules

import (
	"cmp"
	"fmt"
	"slices"
)

// Check is one rule of the house, or a few that belong together.
type Check struct {
	// Name is the check's short name, and the folder of its cases in testdata.
	Name string
	// Find returns every breach in the tree, in no particular order.
	Find func(*Tree) []Breach
}

// Checks returns all checks, in the order in which design.md states them.
func Checks() []Check {
	return []Check{
		{"imports", imports},
		{"reach", reach},
		{"thirdparty", thirdParty},
		{"modules", modules},
		{"size", size},
		{"names", names},
		{"documented", documented},
		{"examples", examples},
		{"calls", calls},
		{"state", state},
		{"texts", texts},
		{"links", links},
		{"promises", promises},
	}
}

// Breach is one place where a rule does not hold.
type Breach struct {
	// Path is the file or folder, relative to the tree, with slashes.
	Path string
	// Line counts from 1; 0 means that the file or folder as a whole is meant.
	Line int
	// Message names the rule and, where it is not obvious, the cure.
	Message string
}

// String returns the breach as compilers print errors: path:line: message.
func (b Breach) String() string {
	if b.Line == 0 {
		return fmt.Sprintf("%s: %s", b.Path, b.Message)
	}
	return fmt.Sprintf("%s:%d: %s", b.Path, b.Line, b.Message)
}

// Run returns what the check finds, by path, line and message.
func (c Check) Run(tree *Tree) []Breach {
	found := c.Find(tree)
	slices.SortFunc(found, func(a, b Breach) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(found)
}
