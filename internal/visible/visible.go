// Package visible writes text from elsewhere so that a reader sees what is
// there. A terminal, a log or a page obeys some characters instead of showing
// them, and others look like something that they are not; both kinds are
// written as escapes, everything else as it is.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s as one line that is safe to show. Control, format, private-use,
// unassigned and line-separator characters and those that have no look of their
// own are written as in JSON (\n, \u202e); so are Cyrillic, Greek and other
// letters that pass for Latin ones when a word holds both. Invalid UTF-8 becomes
// the replacement character.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var out bytes.Buffer
	for len(s) > 0 {
		n := spanOf(s)
		write(&out, s[:n])
		s = s[n:]
	}
	return out.String()
}

// JSON returns the JSON text that has the value of text and is safe to show: the
// characters that Text escapes are escaped within its strings. The text must be
// valid JSON.
func JSON(text []byte) []byte {
	s := string(text)
	if plain(s) {
		return text
	}
	var out bytes.Buffer
	for len(s) > 0 {
		switch c := s[0]; c {
		case '\\': // an escape: its letter belongs to no word
			n := min(2, len(s))
			out.WriteString(s[:n])
			s = s[n:]
		case ' ', '\n', '\t': // between values; within a string the last two are escaped
			out.WriteByte(c)
			s = s[1:]
		case '\r':
			s = s[1:]
		default:
			n := spanOf(s)
			write(&out, s[:n])
			s = s[n:]
		}
	}
	return out.Bytes()
}

// plain reports whether s is printable ASCII throughout.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// spanOf returns the length of the word that s, which is not empty, begins with,
// or of its first character where that is part of no word.
func spanOf(s string) int {
	for i, r := range s {
		switch {
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd):
		case i > 0:
			return i
		default:
			_, size := utf8.DecodeRuneInString(s)
			return size
		}
	}
	return len(s)
}

// write appends a span, with escapes for what must not be shown as it is.
func write(out *bytes.Buffer, span string) {
	mixed := strings.IndexFunc(span, latin) >= 0
	for _, r := range span {
		if shown(r) && (!mixed || !passesForLatin(r)) {
			out.WriteRune(r)
			continue
		}
		escape(out, r)
	}
}

// escape writes r as JSON does.
func escape(out *bytes.Buffer, r rune) {
	switch {
	case r == '\n':
		out.WriteString(`\n`)
	case r == '\r':
		out.WriteString(`\r`)
	case r == '\t':
		out.WriteString(`\t`)
	case r > 0xFFFF:
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(out, `\u%04x\u%04x`, high, low)
	default:
		fmt.Fprintf(out, `\u%04x`, r)
	}
}

// shown reports whether r has a look of its own.
func shown(r rune) bool {
	switch {
	case r == '\uFE0E' || r == '\uFE0F': // choose between text and picture of the sign before
		return true
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	}
	return unicode.IsGraphic(r)
}

func latin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// passesForLatin reports whether r is of a script that has letters which look
// like Latin ones.
func passesForLatin(r rune) bool {
	return unicode.In(r, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Cyrillic, unicode.Greek, unicode.Lisu)
}
