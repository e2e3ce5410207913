package bench_test

import (
	"encoding/json"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// validator is one side of the benchmarks that validate and do nothing else.
// A nil function means that the side doesn't do that work.
type validator struct {
	name string

	// prepare makes of the bytes what check takes; it is not measured.
	prepare func(data []byte) (any, error)
	// check reports whether a prepared input is right.
	check func(prepared any) bool
	// values says that what prepare makes is a typed Go value, in which some
	// faults can't be expressed.
	values bool

	// decode makes a checked order of the bytes, defaults included.
	decode func(data []byte) (workload.Order, error)

	// faults counts what is wrong with the input that the bytes spell, having
	// made every message that the library makes before it returns.
	faults func(data []byte) int
	// pointers says where the input is wrong, to compare the sides.
	pointers func(data []byte) []string
}

// validators returns every side. Each call builds them anew, since some of them
// reuse buffers.
func validators() []validator {
	return []validator{
		ambitValidator(), ambitValueValidator(),
		humaValidator(), santhoshValidator(), googleValidator(),
	}
}

// toMap is how an application decodes JSON for a library that validates maps.
func toMap(data []byte) (any, error) {
	var m map[string]any
	err := json.Unmarshal(data, &m)
	return m, err
}
