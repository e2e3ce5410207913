package serve_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// soakTally is what became of the requests of one client, or of all of them. A
// tally is not safe for concurrent use.
type soakTally struct {
	steps    map[string]int // by the step's name
	sent     int            // requests whose sender stayed, whole or told to be broken
	answered int            // of those: the whole answer came, and was right
	cut      int            // of those: the server gave up on a client that did not read
	gone     int            // requests whose sender went away
	faults   []string
}

func newSoakTally() *soakTally { return &soakTally{steps: map[string]int{}} }

// maxFaults is how many faults are reported: one is enough to look into.
const maxFaults = 10

func (t *soakTally) fault(text string) {
	if len(t.faults) < maxFaults {
		t.faults = append(t.faults, text)
	}
}

func (t *soakTally) add(other *soakTally) {
	for name, count := range other.steps {
		t.steps[name] += count
	}
	t.sent += other.sent
	t.answered += other.answered
	t.cut += other.cut
	t.gone += other.gone
	for _, fault := range other.faults {
		t.fault(fault)
	}
}

// String returns the figures in words.
func (t *soakTally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests: %d sent, %d answered, %d cut off; %d more whose client left; steps:", t.sent, t.answered, t.cut, t.gone)
	for _, name := range slices.Sorted(maps.Keys(t.steps)) {
		fmt.Fprintf(&b, " %s %d", name, t.steps[name])
	}
	return b.String()
}

// check fails the test unless whoever stayed was answered, and everything that
// clients can do has been done.
func (t *soakTally) check(test *testing.T) {
	test.Helper()
	for _, fault := range t.faults {
		test.Error(fault)
	}
	if t.answered+t.cut != t.sent {
		test.Errorf("answers: want one for each of %d requests, got %d, and %d clients that did not read were cut off", t.sent, t.answered, t.cut)
	}
	for _, step := range soakSteps() {
		if t.steps[step.name] == 0 {
			test.Errorf("step %q: want it done, got none", step.name)
		}
	}
	if t.gone == 0 || t.cut == 0 {
		test.Errorf("want some clients to go away and some to be cut off, got %d and %d", t.gone, t.cut)
	}
}
