//go:build !race

package schema

import (
	"reflect"
	"testing"
)

// TestAllocations holds what the documentation promises. The race detector changes counts.
func TestAllocations(t *testing.T) {
	s := mustFor[order](t)
	var o order
	dst := reflect.ValueOf(&o).Elem()
	valid, faulty := []byte(validOrder), []byte(faultyOrder)
	buf := make([]byte, 0, 1024)
	if faults := s.Decode(valid, dst, 0); faults != nil {
		t.Fatal(faults)
	}
	labels := mustFor[map[string]any](t)
	free := []byte(`{"a":{"b":[1,2.5,"x",null,{"c":true}]},"d":"e"}`)
	tests := []struct {
		name string
		most float64
		run  func()
	}{
		{"Check", 0, func() { s.Check(valid, 0) }},
		{"CheckValue", 0, func() { s.CheckValue(dst) }},
		{"Append", 0, func() { s.Append(buf, dst) }},
		{"Check of any", 2, func() { labels.Check(free, 0) }},
		// The title, the array of tags and its three strings, the three of the address, the time.
		{"Decode", 9, func() { s.Decode(valid, dst, 0) }},
		{"six faults", 25, func() { s.Check(faulty, 0) }},
	}
	for _, test := range tests {
		if got := testing.AllocsPerRun(100, test.run); got > test.most {
			t.Errorf("%s: want at most %v allocations, got %v", test.name, test.most, got)
		}
	}
}
