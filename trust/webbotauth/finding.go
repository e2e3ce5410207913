package webbotauth

// outcome is what came of judging the signatures of a request. A request that
// nobody signed as an agent is unsigned, which has no value here.
type outcome string

const (
	outcomeVerified   outcome = "verified"
	outcomeInvalid    outcome = "invalid"    // it breaks a rule, or does not verify
	outcomeUnverified outcome = "unverified" // nobody knows the agent or has its keys
)

// finding is an outcome and the word for why. The zero value: nothing is wrong.
type finding struct {
	outcome outcome
	reason  string
}

func invalid(reason string) finding    { return finding{outcomeInvalid, reason} }
func unverified(reason string) finding { return finding{outcomeUnverified, reason} }

// String returns what developers are told.
func (f finding) String() string {
	if f.reason == "" {
		return string(f.outcome)
	}
	return string(f.outcome) + "/" + f.reason
}
