package mcp

import "log/slog"

// level is a severity of RFC 5424 (section 6.2.1), the least first. The zero
// level is none.
type level uint8

const (
	levelDebug level = iota + 1
	levelInfo
	levelNotice
	levelWarning
	levelError
	levelCritical
	levelAlert
	levelEmergency
)

// levelOf returns the level of a name, zero for any other text.
func levelOf(name []byte) level {
	for l := levelDebug; l <= levelEmergency; l++ {
		if string(name) == l.String() {
			return l
		}
	}
	return 0
}

// String returns the level's name in the protocol.
func (l level) String() string {
	switch l {
	case levelDebug:
		return "debug"
	case levelInfo:
		return "info"
	case levelNotice:
		return "notice"
	case levelWarning:
		return "warning"
	case levelError:
		return "error"
	case levelCritical:
		return "critical"
	case levelAlert:
		return "alert"
	case levelEmergency:
		return "emergency"
	}
	return ""
}

// levelFrom turns a level of Go's logs into one of the protocol's. Go has four;
// a custom level between them, or above, is the nearest that is not louder.
func levelFrom(l slog.Level) level {
	switch {
	case l < slog.LevelInfo:
		return levelDebug
	case l < slog.LevelInfo+2:
		return levelInfo
	case l < slog.LevelWarn:
		return levelNotice
	case l < slog.LevelError:
		return levelWarning
	case l < slog.LevelError+4:
		return levelError
	}
	return levelCritical
}
