package ambittest

import (
	"fmt"
	"strings"
)

// Canary looks for a secret that the test has put in, as the value of a secret
// field or into what a handler reads, in everything that has come out so far:
// outputs, errors, progress and whole HTTP answers of this host's clients, events,
// log lines, and what a [Prompter] or a [Monitor] was shown. Each place fails the
// test by name.
//
// The secret is to be a word of at least 8 letters and digits, which no encoding
// on the way changes. The application has to log to a [Log], so that Canary can
// read that; otherwise, and where nothing has come out, the test ends.
func (h *Host) Canary(secret string) {
	h.t.Helper()
	if len(secret) < 8 || strings.Trim(secret, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		h.t.Fatalf("%q is no canary: take at least 8 letters and digits", secret)
	}
	log, ok := h.app.Logger().Handler().(*Log)
	if !ok {
		h.t.Fatalf("the log cannot be searched: set ambit.Options.Logger to slog.New(ambittest.NewLog())")
		return
	}
	texts := h.transcript.all()
	for _, e := range h.Events() {
		texts = append(texts, placedText{"the event of " + e.Capability, fmt.Sprintf("%+v", e)})
	}
	if len(texts) == 0 {
		h.t.Fatalf("nothing has come out of the application yet: make the calls first")
	}
	for _, line := range log.Lines() {
		texts = append(texts, placedText{"the log", line})
	}
	for _, found := range texts {
		if at := strings.Index(found.text, secret); at >= 0 {
			h.t.Errorf("the secret %s is in %s:\n%s", secret, found.place, around(found.text, at, len(secret)))
		}
	}
}

// around cuts what stands around a find from a text.
func around(text string, at, length int) string {
	const margin = 100 // bytes on each side
	from, to := max(0, at-margin), min(len(text), at+length+margin)
	return strings.ToValidUTF8(text[from:to], "")
}
