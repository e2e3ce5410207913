package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/ambit-dev/ambit/schema"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// errRefused stands for the faults of an order, which a benchmark that decodes
// has no use for.
var errRefused = errors.New("the order is refused")

// ambitValidator works on the bytes: one scan that checks, and sets if it is
// asked to.
func ambitValidator() validator {
	s := orderSchema()
	return validator{
		name:    "ambit",
		prepare: func(data []byte) (any, error) { return data, nil },
		check:   func(prepared any) bool { return s.Check(prepared.([]byte), 0) == nil },
		decode: func(data []byte) (order workload.Order, err error) {
			if faults := s.Decode(data, reflect.ValueOf(&order).Elem(), 0); faults != nil {
				return order, errRefused
			}
			return order, nil
		},
		faults: func(data []byte) int { return len(s.Check(data, 0)) },
		pointers: func(data []byte) []string {
			var pointers []string
			for _, fault := range s.Check(data, 0) {
				pointers = append(pointers, fault.Pointer)
			}
			return pointers
		},
	}
}

// ambitValueValidator checks an order that is a Go value already, as a typed
// call does.
func ambitValueValidator() validator {
	s := orderSchema()
	return validator{
		name:   "ambit-value",
		values: true,
		prepare: func(data []byte) (any, error) {
			order := new(workload.Order)
			err := json.Unmarshal(data, order)
			return reflect.ValueOf(order).Elem(), err
		},
		check: func(prepared any) bool { return s.CheckValue(prepared.(reflect.Value)) == nil },
	}
}

// orderSchema compiles the workload's own type, which is right.
func orderSchema() *schema.Schema {
	s, err := schema.For[workload.Order](schema.Options{})
	if err != nil {
		panic(fmt.Sprintf("the workload's type can't be described: %v", err))
	}
	return s
}
