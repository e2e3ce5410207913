package ambit

// mode is how much a run may do without asking anyone.
type mode uint8

const (
	modeDefault mode = iota // reads only
	modeGuarded             // what the application can undo
	modeAuto                // all but what nobody can undo: the caller is the authority
)

// modeOf returns the mode of a surface. It never comes from a request.
func modeOf(s Surface) mode {
	switch s {
	case InProcess, CommandLine, HTTP, WebMCP:
		return modeAuto
	case MCP:
		return modeGuarded
	}
	return modeDefault
}

// asks reports whether a call of this effect has to be answered for by someone.
func (m mode) asks(e Effect) bool {
	switch m {
	case modeAuto:
		return e >= Destructive
	case modeGuarded:
		return e >= Execute
	}
	return e > Read
}

// gate decides whether a call may go ahead. Who could be asked is not part of
// the application yet, so that a call that asks is refused, in the words of the
// surface that caused it.
func gate(run *Run, e *entry) *Error {
	if !modeOf(run.surface).asks(e.contract.spec.Effect) {
		return nil
	}
	switch run.surface {
	case HTTP, WebMCP, MCP:
		return &Error{
			Code:    CodeConfirmationUnavailable,
			Message: "This call needs a confirmation, and this application takes none on this surface.",
			Hint:    "Do not try again; ask the application's operator.",
		}
	}
	return &Error{
		Code:    CodeDeclined,
		Message: "This call needs a person's consent, and there is no one to ask.",
	}
}
