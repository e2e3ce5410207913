package ambit

// Mode is how much a run may do without asking anyone. It is the application's
// choice for a surface or a run; a request may ask for a stricter one and never
// for a looser one. Modes are ordered, the strictest first.
type Mode uint8

// The modes. What each does with an effect:
//
//	effect              plan    default  guarded  auto
//	read                allow   allow    allow    allow
//	write               block   ask      allow    allow
//	execute, external   block   ask      ask      allow
//	destructive         block   ask      ask      ask
const (
	// ModeUnset leaves the choice to the surface: auto for HTTP, page tools,
	// the command line and in-process calls, where the caller is the
	// authority; guarded for MCP; default everywhere else. See also
	// [Options.Modes].
	ModeUnset Mode = iota
	// ModePlan lets a run read and nothing else.
	ModePlan
	// ModeDefault asks about everything but reads.
	ModeDefault
	// ModeGuarded asks about what the application cannot undo by itself.
	ModeGuarded
	// ModeAuto asks about what nobody can undo.
	ModeAuto
)

var modeNames = [...]string{"unset", "plan", "default", "guarded", "auto"}

// String returns the mode's name in lower case, or "invalid".
func (m Mode) String() string {
	if int(m) >= len(modeNames) {
		return "invalid"
	}
	return modeNames[m]
}

// ParseMode reads a mode that a caller asks for, as [Mode.String] returns it; ""
// is ModeUnset. The error is [CodeInvalidInput], nil where there is none.
func ParseMode(name string) (Mode, *Error) {
	if name == "" {
		return ModeUnset, nil
	}
	for m := ModePlan; m <= ModeAuto; m++ {
		if name == m.String() {
			return m, nil
		}
	}
	return ModeUnset, Errorf(CodeInvalidInput, "There is no mode %s.", quoteName(cut(name, maxName))).WithHint("Use plan, default, guarded or auto.")
}

// stricter returns the stricter of two modes; an unset one does not count.
func (m Mode) stricter(other Mode) Mode {
	if m == ModeUnset || other != ModeUnset && other < m {
		return other
	}
	return m
}

// modeOf returns the mode of a surface that the application has not configured.
func modeOf(s Surface) Mode {
	switch s {
	case InProcess, CommandLine, HTTP, WebMCP:
		return ModeAuto
	case MCP:
		return ModeGuarded
	}
	return ModeDefault
}
