package readme

import "strings"

// A fence opens or closes a code block. The zero value is no fence.
type fence struct {
	mark   byte // a backtick or a tilde
	length int  // how many of them
	indent int  // how many blanks stand before them
	line   int
}

// opening returns the fence that a line opens and the info string behind it. A
// fence of backticks has no backtick in its info string: such a line is code
// within a paragraph.
func opening(line string) (fence, string) {
	rest := strings.TrimLeft(line, " ")
	found := fence{indent: len(line) - len(rest)}
	if found.indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}, ""
	}
	found.mark = rest[0]
	info := strings.TrimLeft(rest, string(found.mark))
	found.length = len(rest) - len(info)
	if found.length < 3 || found.mark == '`' && strings.Contains(info, "`") {
		return fence{}, ""
	}
	return found, strings.TrimSpace(info)
}

// closedBy reports whether the line closes the block that the fence opened.
func (f fence) closedBy(line string) bool {
	if f.length == 0 {
		return false
	}
	end, info := opening(line)
	return end.mark == f.mark && end.length >= f.length && info == ""
}

// unindent takes from a line of code as many blanks as its fence stands in.
func (f fence) unindent(line string) string {
	for range f.indent {
		rest, ok := strings.CutPrefix(line, " ")
		if !ok {
			break
		}
		line = rest
	}
	return line
}
