package strictjson

import (
	"unicode/utf8"
)

// plain marks the bytes that a string may hold as they are: ASCII without control characters,
// quotation mark and backslash.
var plain = func() (table [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// Space returns the first position at or after i that holds no white space, or len(data).
func Space(data []byte, i int) int {
	for i < len(data) {
		if c := data[i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return i
		}
		i++
	}
	return i
}

// String scans the string literal that begins at data[i] and returns the position after it.
// If escaped is false, the bytes between the quotation marks are the value; if it is true,
// [Unquote] decodes them. The error is nil or an [*Error].
func String(data []byte, i int) (end int, escaped bool, err error) {
	if i >= len(data) || data[i] != '"' {
		return i, false, unexpected(data, i, "a string")
	}
	for i++; i < len(data); {
		c := data[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			n, err := escape(data, i)
			if err != nil {
				return i, true, err
			}
			i += n
		case c < ' ':
			return i, escaped, syntaxError(i, "a control character in a string must be escaped")
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				return i, escaped, &Error{Kind: UTF8, Offset: i, Problem: "the text is not valid UTF-8"}
			}
			i += n
		}
	}
	return i, escaped, unexpected(data, i, "a closing quotation mark")
}

// escape returns the length of the escape sequence at data[i], a surrogate pair being one.
func escape(data []byte, i int) (int, error) {
	if i+1 >= len(data) {
		return 0, unexpected(data, i+1, "an escape sequence")
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
	default:
		return 0, syntaxError(i, "unknown escape sequence in a string")
	}
	r, ok := hex4(data, i+2)
	switch {
	case !ok:
		return 0, syntaxError(i, "\\u must be followed by four hexadecimal digits")
	case r < 0xD800 || r > 0xDFFF:
		return 6, nil
	case r < 0xDC00 && i+7 < len(data) && data[i+6] == '\\' && data[i+7] == 'u':
		if low, ok := hex4(data, i+8); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 12, nil
		}
	}
	return 0, &Error{Kind: UTF8, Offset: i, Problem: "half of a surrogate pair in a string"}
}

// hex4 reads four hexadecimal digits at data[i].
func hex4(data []byte, i int) (r rune, ok bool) {
	if i+4 > len(data) {
		return 0, false
	}
	for _, c := range data[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Number scans the number that begins at data[i] and returns the position after it. If digits
// is true, the literal has neither fraction nor exponent. The error is nil or an [*Error].
func Number(data []byte, i int) (end int, digits bool, err error) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i, err = digitRun(data, i); err != nil {
		return i, false, err
	}
	digits = true
	if i < len(data) && data[i] == '.' {
		digits = false
		if i, err = digitRun(data, i+1); err != nil {
			return i, false, err
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		digits = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i, err = digitRun(data, i); err != nil {
			return i, false, err
		}
	}
	return i, digits, nil
}

// digitRun scans one or more decimal digits.
func digitRun(data []byte, i int) (int, error) {
	start := i
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	if i == start {
		return i, unexpected(data, i, "a digit")
	}
	return i, nil
}

// Literal scans true, false or null, whichever begins at data[i], and returns the position
// after it. The error is nil or an [*Error].
func Literal(data []byte, i int) (end int, err error) {
	word := "null"
	if i < len(data) {
		switch data[i] {
		case 't':
			word = "true"
		case 'f':
			word = "false"
		}
	}
	if len(data)-i < len(word) || string(data[i:i+len(word)]) != word {
		return i, unexpected(data, i, "a JSON value")
	}
	return i + len(word), nil
}

// Skip scans the value that begins at data[i], which must not be white space, and returns the
// position after it. The value may open at most depth arrays and objects inside one another.
// The error is nil or an [*Error].
func Skip(data []byte, i, depth int) (end int, err error) {
	if i >= len(data) {
		return i, unexpected(data, i, "a JSON value")
	}
	switch c := data[i]; {
	case c == '"':
		end, _, err = String(data, i)
	case c == '{':
		end, err = skipObject(data, i, min(depth, MaxDepth))
	case c == '[':
		end, err = skipArray(data, i, min(depth, MaxDepth))
	case c == '-' || c-'0' <= 9:
		end, _, err = Number(data, i)
	default:
		end, err = Literal(data, i)
	}
	return end, err
}

func skipObject(data []byte, i, depth int) (int, error) {
	if depth <= 0 {
		return i, tooDeep(i)
	}
	i = Space(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i + 1, nil
	}
	for {
		end, _, err := String(data, i)
		if err != nil {
			return end, err
		}
		if i, err = Colon(data, end); err != nil {
			return i, err
		}
		if i, err = Skip(data, i, depth-1); err != nil {
			return i, err
		}
		next, more, err := Next(data, i, '}')
		if err != nil || !more {
			return next, err
		}
		i = next
	}
}

func skipArray(data []byte, i, depth int) (int, error) {
	if depth <= 0 {
		return i, tooDeep(i)
	}
	i = Space(data, i+1)
	if i < len(data) && data[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := Skip(data, i, depth-1)
		if err != nil {
			return end, err
		}
		next, more, err := Next(data, end, ']')
		if err != nil || !more {
			return next, err
		}
		i = next
	}
}

// Colon scans the colon after a member's name, with white space on both sides, and returns
// the position of the member's value. The error is nil or an [*Error].
func Colon(data []byte, i int) (int, error) {
	i = Space(data, i)
	if i >= len(data) || data[i] != ':' {
		return i, unexpected(data, i, "a colon")
	}
	return Space(data, i+1), nil
}

// Next scans what follows a member or an element: a comma, after which it returns the position
// of the next one and true, or the closing byte, after which it returns the position behind it
// and false. The error is nil or an [*Error].
func Next(data []byte, i int, closing byte) (next int, more bool, err error) {
	i = Space(data, i)
	if i < len(data) {
		switch data[i] {
		case ',':
			return Space(data, i+1), true, nil
		case closing:
			return i + 1, false, nil
		}
	}
	want := "a comma or ]"
	if closing == '}' {
		want = "a comma or }"
	}
	return i, false, unexpected(data, i, want)
}

// End returns an error unless only white space follows position i. The error is nil or an
// [*Error].
func End(data []byte, i int) error {
	if i = Space(data, i); i < len(data) {
		return syntaxError(i, "unexpected data after the value")
	}
	return nil
}

// Valid returns nil if data is exactly one JSON value that opens at most depth arrays and
// objects inside one another, with white space around it at most, and an [*Error] otherwise.
// Duplicate keys are not looked for.
func Valid(data []byte, depth int) error {
	end, err := Skip(data, Space(data, 0), depth)
	if err != nil {
		return err
	}
	return End(data, end)
}
