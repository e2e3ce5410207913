package approval

import (
	"html"
	"html/template"
	"strings"

	"github.com/ambit-dev/ambit/internal/visible"
)

// markup returns JSON text, laid out in lines, for a page to show as it is: what
// a screen would obey rather than show is escaped, and each string is isolated,
// so that one which is written from right to left moves nothing around it. The
// text must be valid JSON.
func markup(text []byte) template.HTML {
	s := string(visible.JSON(text))
	var out strings.Builder
	out.Grow(2 * len(s))
	for len(s) > 0 {
		n, class := tokenOf(s)
		part := html.EscapeString(s[:n])
		switch class {
		case "":
			out.WriteString(part)
		case "key", "str":
			out.WriteString(`<bdi class="` + class + `">` + part + `</bdi>`)
		default:
			out.WriteString(`<span class="` + class + `">` + part + `</span>`)
		}
		s = s[n:]
	}
	return template.HTML(out.String())
}

// tokenOf returns the length of the token that JSON text begins with, and its
// class, "" for what stands between values.
func tokenOf(s string) (n int, class string) {
	switch {
	case s[0] == '"':
		n = stringEnd(s)
		if strings.HasPrefix(strings.TrimLeft(s[n:], " \n\t"), ":") {
			return n, "key"
		}
		return n, "str"
	case strings.IndexByte("{}[]:, \n\t", s[0]) >= 0:
		return spanLength(s, "{}[]:, \n\t"), ""
	}
	n = strings.IndexAny(s, "{}[]:, \n\t\"")
	if n < 0 {
		n = len(s)
	}
	return max(n, 1), "lit"
}

// stringEnd returns the length of the string that s begins with.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func spanLength(s, set string) int {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return i
		}
	}
	return len(s)
}
