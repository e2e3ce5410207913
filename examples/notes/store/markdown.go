package store

import (
	"slices"
	"strings"
)

// draft is a note that has no number yet.
type draft struct {
	title string
	body  string
	tags  []string
}

// parseMarkdown splits a Markdown text into notes. A heading of the first
// level starts a note and is its title; a line "Tags: a, b" right below gives
// its tags; everything up to the next such heading is its body. Text before
// the first heading is dropped unless there is no heading at all, in which
// case its first line is the title. Headings inside fenced code are code.
func parseMarkdown(text string) []draft {
	var drafts []draft
	var fence string
	var body []string
	started := false

	finish := func() {
		if started {
			last := &drafts[len(drafts)-1]
			last.tags, body = takeTags(body)
			last.body = trimBlankLines(body)
		}
		body = nil
	}
	for line := range lines(text) {
		title, heading := strings.CutPrefix(line, "# ")
		switch {
		case heading && fence == "":
			finish()
			drafts = append(drafts, draft{title: strings.TrimSpace(title)})
			started = true
			continue
		case fence == "":
			fence = openingFence(line)
		case closesFence(line, fence):
			fence = ""
		}
		body = append(body, unescapeHeading(line))
	}
	if !started {
		return parseText(text)
	}
	finish()
	return drafts
}

// parseText splits plain text into notes at lines that hold only "---". The
// first line of each part is the title, the rest its body.
func parseText(text string) []draft {
	var drafts []draft
	var part []string
	finish := func() {
		whole := trimBlankLines(part)
		part = nil
		if whole == "" {
			return
		}
		title, body, _ := strings.Cut(whole, "\n")
		drafts = append(drafts, draft{title: strings.TrimSpace(title), body: trimBlankLines(slices.Collect(lines(body)))})
	}
	for line := range lines(text) {
		if strings.TrimRight(line, " \t") == "---" {
			finish()
			continue
		}
		part = append(part, line)
	}
	finish()
	return drafts
}

// appendMarkdown writes one note in the form that parseMarkdown reads back to
// the same note, but for line ends, for blank lines around the body, and for
// fenced code that the body leaves open: it is closed, or it would swallow the
// notes below.
func appendMarkdown(b *strings.Builder, d draft) {
	b.WriteString("# " + d.title + "\n")
	body := strings.TrimRight(d.body, "\r\n")
	if len(d.tags) > 0 || strings.HasPrefix(body, tagsPrefix) {
		b.WriteString(tagsPrefix + " " + strings.Join(d.tags, ", ") + "\n")
	}
	b.WriteString("\n")
	if body == "" {
		return
	}
	var fence string
	for line := range lines(body) {
		switch {
		case fence == "":
			fence = openingFence(line)
		case closesFence(line, fence):
			fence = ""
		}
		b.WriteString(escapeHeading(line) + "\n")
	}
	if fence != "" {
		b.WriteString(fence + "\n")
	}
	b.WriteString("\n")
}

const tagsPrefix = "Tags:"

// takeTags splits a leading "Tags:" line off the body.
func takeTags(body []string) ([]string, []string) {
	if len(body) == 0 {
		return nil, body
	}
	list, ok := strings.CutPrefix(body[0], tagsPrefix)
	if !ok {
		return nil, body
	}
	var tags []string
	for tag := range strings.SplitSeq(list, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags, body[1:]
}

// escapeHeading puts a backslash before a line that would start a note, and
// one more before a line that is already so written, which keeps it exact.
func escapeHeading(line string) string {
	if strings.HasPrefix(strings.TrimLeft(line, `\`), "# ") {
		return `\` + line
	}
	return line
}

// unescapeHeading takes back what escapeHeading has done.
func unescapeHeading(line string) string {
	rest, ok := strings.CutPrefix(line, `\`)
	if ok && strings.HasPrefix(strings.TrimLeft(rest, `\`), "# ") {
		return rest
	}
	return line
}

// openingFence returns the run of backquotes or tildes that opens fenced code
// on this line, or nothing.
func openingFence(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(trimmed, mark)
		if run := len(trimmed) - len(rest); run >= 3 && !strings.Contains(rest, mark) {
			return trimmed[:run]
		}
	}
	return ""
}

// closesFence tells whether the line ends the code that fence has opened.
func closesFence(line, fence string) bool {
	trimmed := strings.TrimSpace(line)
	return len(trimmed) >= len(fence) && strings.Trim(trimmed, fence[:1]) == ""
}

// lines yields the lines of a text without their ends: LF, and any CR before it.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// trimBlankLines joins lines without the blank ones at either end.
func trimBlankLines(all []string) string {
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	for len(all) > 0 && blank(all[0]) {
		all = all[1:]
	}
	for len(all) > 0 && blank(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	return strings.Join(all, "\n")
}
