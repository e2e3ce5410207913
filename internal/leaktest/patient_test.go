package leaktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
)

// tests leave a goroutine that ends after some time.
type tests struct {
	code  int
	after time.Duration
}

func (l tests) Run() int {
	go func() { <-time.After(l.after) }()
	return l.code
}

func TestPatient(t *testing.T) {
	for _, test := range []struct {
		name   string
		tests  tests
		leaves bool
		within time.Duration
	}{
		{"one that ends late", tests{0, 20 * time.Second}, false, 21 * time.Second},
		{"one that hangs", tests{0, time.Hour}, true, 2 * time.Minute},
		{"tests that fail", tests{1, time.Second}, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			others, began := goleak.IgnoreCurrent(), time.Now()
			if got := leaktest.Patient(test.tests, others).Run(); got != test.tests.code {
				t.Errorf("%s: want exit code %d, got %d", test.name, test.tests.code, got)
			}
			if took := time.Since(began); took > test.within {
				t.Errorf("%s: want at most %s, got %s", test.name, test.within, took)
			}
			if err := goleak.Find(others); (err != nil) != test.leaves {
				t.Errorf("%s: want it left: %t, got %v", test.name, test.leaves, err)
			}
			<-time.After(test.tests.after)
		})
	}
}
