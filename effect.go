package ambit

// Effect says what a capability does to the world. It is required and has no
// default: everything that concerns risk (who is asked, hints for agents,
// which nested calls are legal) derives from it. Effects are ordered; a later
// one includes the risk of the earlier ones.
type Effect uint8

// The effects, least first. The zero Effect is invalid, so that a contract
// cannot forget to say.
const (
	// Read changes nothing that anyone could notice.
	Read Effect = iota + 1
	// Write changes the application's own data in a way that it can undo.
	Write
	// Execute starts work whose course the application controls only in part:
	// a job, a build, a script.
	Execute
	// External reaches someone or something outside the application: a mail, a
	// payment, another company's API. In the mode auto, as over HTTP, it runs
	// without asking unless [Spec.Approval] is set.
	External
	// Destructive deletes or replaces something that cannot be brought back. It
	// is asked about in every mode.
	Destructive
)

var effectNames = [...]string{"", "read", "write", "execute", "external", "destructive"}

// String returns the effect's name in lower case, or "invalid".
func (e Effect) String() string {
	if !e.valid() {
		return "invalid"
	}
	return effectNames[e]
}

// MarshalText writes the name that String returns.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

func (e Effect) valid() bool { return e >= Read && e <= Destructive }
