package ambittest

import "context"

// T is what this package needs of a test: *testing.T, *testing.B and *testing.F
// are one.
type T interface {
	// Context is the context of all calls; it ends with the test.
	Context() context.Context
	// Helper marks the caller as one whose lines are of no interest.
	Helper()
	// Errorf fails the test and goes on.
	Errorf(format string, args ...any)
	// Fatalf fails the test and ends it.
	Fatalf(format string, args ...any)
}
