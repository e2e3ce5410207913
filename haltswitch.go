package ambit

import (
	"context"
	"slices"
)

// HaltSwitch is a [HaltSource] that can be thrown and released by itself, apart
// from any instance that obeys it. The Halts of the stores are such, and the
// command line works on one. It is safe for concurrent use.
type HaltSwitch interface {
	HaltSource
	// Halt stops these too, and takes nothing away. One that is none, such as
	// Halt{}, stops everything. After an error nobody knows whether it was done.
	Halt(ctx context.Context, halts ...Halt) error
	// Resume releases the whole form, if it stops nothing but what was seen: what
	// Read has returned and a person was shown. Otherwise it releases nothing, and
	// the error is that of [UnseenHalts]. What cannot be read counts as a halt of
	// everything, and goes with the rest. Whoever may call it decides for
	// everybody: keep it out of reach of capabilities and agents.
	Resume(ctx context.Context, seen []Halt) error
}

// UnseenHalts returns an error of CodeConflict if something is stopped that is not
// among what was seen, and nil otherwise. It is for those who implement
// [HaltSwitch].
func UnseenHalts(stopped, seen []Halt) error {
	for _, h := range stopped {
		if !slices.Contains(seen, h) {
			return Errorf(CodeConflict, "More has been stopped in the meantime.").WithHint("Look at it, then try again.")
		}
	}
	return nil
}
