package schema

import (
	"strconv"
	"sync"
	"testing"
)

// TestConcurrentUse shares one schema, complete validator included, between goroutines.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"type":"object","properties":{"n":{"not":{"multipleOf":2}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 200 {
				n := g*200 + i
				if odd := s.Check([]byte(`{"n":`+strconv.Itoa(n)+`}`), 0) == nil; odd != (n%2 == 1) {
					t.Errorf("%d: accepted %v", n, odd)
				}
			}
		})
	}
	group.Wait()
}
