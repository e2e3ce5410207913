package command

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// screen is a file of some kind that keeps what is written.
type screen struct {
	bytes.Buffer
	mode fs.FileMode
}

func (s *screen) Stat() (fs.FileInfo, error) { return fileInfo{mode: s.mode}, nil }

type fileInfo struct {
	fs.FileInfo
	mode fs.FileMode
}

func (i fileInfo) Mode() fs.FileMode { return i.mode }

func TestT10_StatusLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &screen{mode: fs.ModeCharDevice}
		line := newStatusLine(out)
		line.progress(ambit.Progress{Done: 1, Total: 3, Message: "reading\x1b[2J"})
		line.progress(ambit.Progress{Done: 2, Total: 3, Message: "too soon to be seen"})
		time.Sleep(statusInterval)
		line.progress(ambit.Progress{Done: 2})
		line.log(slog.LevelWarn, "one is\nmissing")
		line.progress(ambit.Progress{Done: 3, Total: 3, Message: strings.Repeat("x", 100)})
		line.clear()
		line.clear()
		want := "\r\x1b[K33% reading\\u001b[2J" +
			"\r\x1b[K2" +
			"\r\x1b[KWARN one is\\nmissing\n" +
			"\r\x1b[K100% " + strings.Repeat("x", 55) +
			"\r\x1b[K"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("screen (-want +got):\n%s", diff)
		}
	})
}

func TestStatusLineIsForTerminals(t *testing.T) {
	t.Parallel()
	if line := newStatusLine(&screen{}); line != nil {
		t.Error("a file is no terminal, and got a status line")
	}
	line := newStatusLine(&bytes.Buffer{})
	if line != nil {
		t.Error("a buffer is no terminal, and got a status line")
	}
	line.clear()
}

func TestT10_WriteJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		mode fs.FileMode
		want string
	}{
		{"a file", 0, "{\"a\":[1,\"\\u202e\"]}\n"},
		{"a terminal", fs.ModeCharDevice, "{\n  \"a\": [\n    1,\n    \"\\u202e\"\n  ]\n}\n"},
	} {
		out := &screen{mode: test.mode}
		if err := writeJSON(out, []byte("{\"a\":[1,\"\u202e\"]}")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
