package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// isTerminal reports whether a stream leads to a person: whether it is a
// character device, and not the one that swallows everything.
func isTerminal(stream any) bool {
	file, ok := stream.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// indented lays JSON text out in lines.
func indented(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return text
	}
	return out.Bytes()
}

// statusLine shows how far a call has come in a line that is written over and
// gone in the end. A nil statusLine shows nothing.
type statusLine struct {
	w io.Writer

	mu    sync.Mutex
	drawn time.Time // when the line was last written; zero: there is none
}

const (
	statusInterval = 100 * time.Millisecond // more often than that nobody reads
	statusWidth    = 60                     // characters; a line that wraps cannot be written over
	eraseLine      = "\r\x1b[K"
)

// newStatusLine returns nil where w is no terminal.
func newStatusLine(w io.Writer) *statusLine {
	if !isTerminal(w) {
		return nil
	}
	return &statusLine{w: w}
}

// progress shows how far the call has come.
func (l *statusLine) progress(p ambit.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.drawn) < statusInterval {
		return
	}
	l.drawn = time.Now()
	text := strconv.FormatFloat(p.Done, 'f', -1, 64)
	if p.Total > 0 {
		text = fmt.Sprintf("%.0f%%", 100*p.Done/p.Total)
	}
	if p.Message != "" {
		text += " " + visible.Text(p.Message)
	}
	l.write(eraseLine + fmt.Sprintf("%.*s", statusWidth, text))
}

// log shows what the handler tells its caller in a line that stays.
func (l *statusLine) log(level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.write(level.String() + " " + visible.Text(text) + "\n")
}

// clear removes the line.
func (l *statusLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
}

func (l *statusLine) erase() {
	if !l.drawn.IsZero() {
		l.write(eraseLine)
		l.drawn = time.Time{}
	}
}

// write ignores errors: a call does not fail because nobody can watch it.
func (l *statusLine) write(text string) { _, _ = io.WriteString(l.w, text) }
