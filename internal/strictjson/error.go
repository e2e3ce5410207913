package strictjson

import "fmt"

// MaxDepth is the deepest nesting that any function of this package reads, whatever limit its
// caller states. It keeps recursion within a small stack.
const MaxDepth = 10_000

// A Kind tells what sort of mistake an [Error] reports.
type Kind uint8

const (
	// Syntax is text that RFC 8259 does not allow, an early end and trailing data included.
	Syntax Kind = iota + 1
	// UTF8 is a string with invalid UTF-8 or half of a surrogate pair.
	UTF8
	// Depth is an array or object inside more others than the limit allows.
	Depth
)

// An Error is the first mistake in a text. Its message never contains any of the text.
type Error struct {
	// Kind is the sort of mistake.
	Kind Kind
	// Offset is where it is, in bytes from the start of the slice that was read.
	Offset int
	// Problem says what is wrong, without the place.
	Problem string
}

// Error returns the problem with its place.
func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Problem, e.Offset) }

func syntaxError(at int, problem string) *Error {
	return &Error{Kind: Syntax, Offset: at, Problem: problem}
}

// unexpected is the syntax error for the byte, or the end, at a position where want belongs.
func unexpected(data []byte, at int, want string) *Error {
	if at >= len(data) {
		return syntaxError(len(data), "the text ends where "+want+" belongs")
	}
	return syntaxError(at, "expected "+want)
}

func tooDeep(at int) *Error {
	return &Error{Kind: Depth, Offset: at, Problem: "the value is nested too deep"}
}
