// Package leaktest lets goroutines end before goleak looks for those that tests have
// left behind.
package leaktest

import (
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines have to end. It is for those that hang.
const patience = time.Minute

// Patient returns tests for [goleak.VerifyTestMain], which wait at their end until no
// goroutine is left. A connection that was closed takes its goroutines along a moment
// later, and goleak itself waits for less than half a second, which a busy machine may
// need. The options are those of goleak.
func Patient(m goleak.TestingM, options ...goleak.Option) goleak.TestingM {
	return patient{m, options}
}

type patient struct {
	tests   goleak.TestingM
	options []goleak.Option
}

// Run runs the tests and returns their exit code.
func (p patient) Run() int {
	code, began := p.tests.Run(), time.Now()
	for code == 0 && goleak.Find(p.options...) != nil && time.Since(began) < patience {
	}
	return code
}
