// Package readme finds the fenced code blocks of a Markdown text that are marked
// to be run, so that tests can run what readers are told to try.
//
// A block is marked by a test attribute in the info string behind its opening
// fence, which readers of the rendered page do not see:
//
//	```sh test=curl
//	curl -H "Authorization: Bearer $KEY" "http://$ADDR/api/"
//	```
//
// Fences are those of CommonMark section 4.5: three or more backticks or tildes,
// indented by at most three blanks, closed by at least as many of the same. A
// block inside a list or a quotation is not found.
package readme

import (
	"fmt"
	"strings"
)

// Block is one fenced code block that carries a test attribute.
type Block struct {
	// Language is the first word of the info string, such as sh or go.
	Language string
	// Test is the value of the test attribute: the name of the block.
	Test string
	// Attributes are the further name=value words of the info string; a word
	// without a value has the empty one. It is nil if there are none.
	Attributes map[string]string
	// Text is what stands between the fences, with its last line break.
	Text string
	// Line is the line of the opening fence, from 1.
	Line int
}

// Parse returns the marked blocks of a Markdown text in order. It is an error if
// a fence is not closed, if two blocks have the same name, or if a block's name
// is empty.
func Parse(markdown string) ([]Block, error) {
	var blocks []Block
	named := make(map[string]int)
	var open fence
	var current Block
	var text strings.Builder
	number := 0
	for line := range strings.Lines(markdown) {
		number++
		switch {
		case open.closedBy(line):
			open = fence{}
			if current.Test == "" {
				continue
			}
			if first, ok := named[current.Test]; ok {
				return nil, fmt.Errorf("line %d: a block named %q stands in line %d already", current.Line, current.Test, first)
			}
			named[current.Test] = current.Line
			current.Text = text.String()
			blocks = append(blocks, current)
		case open.length > 0:
			text.WriteString(open.unindent(line))
		default:
			var info string
			if open, info = opening(line); open.length == 0 {
				continue
			}
			open.line = number
			text.Reset()
			var err error
			if current, err = parseInfo(info, number); err != nil {
				return nil, err
			}
		}
	}
	if open.length > 0 {
		return nil, fmt.Errorf("line %d: the block is not closed", open.line)
	}
	return blocks, nil
}

// Find returns the block of the given name.
func Find(blocks []Block, name string) (Block, bool) {
	for _, block := range blocks {
		if block.Test == name {
			return block, true
		}
	}
	return Block{}, false
}

// parseInfo reads an info string: the language, then attributes.
func parseInfo(info string, line int) (Block, error) {
	block := Block{Line: line}
	for at, word := range strings.Fields(info) {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case at == 0:
			block.Language = word
		case name == "test" && value == "":
			return Block{}, fmt.Errorf("line %d: test= without a name", line)
		case name == "test":
			block.Test = value
		default:
			if block.Attributes == nil {
				block.Attributes = make(map[string]string)
			}
			block.Attributes[name] = value
		}
	}
	return block, nil
}
