package mcp

import (
	"log/slog"
	"testing"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	for said, want := range map[slog.Level]string{
		slog.LevelDebug - 4: "debug", slog.LevelDebug: "debug", slog.LevelInfo: "info", slog.LevelInfo + 2: "notice",
		slog.LevelWarn: "warning", slog.LevelError: "error", slog.LevelError + 4: "critical",
	} {
		if got := levelFrom(said).String(); got != want {
			t.Errorf("%v: want %s, got %s", said, want, got)
		}
	}
	for l := levelDebug; l <= levelEmergency; l++ {
		if got := levelOf([]byte(l.String())); got != l {
			t.Errorf("%s: want %d, got %d", l, l, got)
		}
	}
	if got := levelOf(nil); got != 0 {
		t.Errorf("no name: want no level, got %s", got)
	}
}
