package bench_test

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// googleValidator validates over a decoded map; for the typed value it goes the
// way of the official MCP SDK, which fills defaults into the map, encodes the
// map and decodes that. It stops at the first fault and checks no formats, so it
// has no part in the benchmark of six faults.
func googleValidator() validator {
	var schema jsonschema.Schema
	if err := json.Unmarshal(workload.OrderSchema(), &schema); err != nil {
		panic(fmt.Sprintf("the workload's schema can't be parsed: %v", err))
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		panic(fmt.Sprintf("the workload's schema can't be resolved: %v", err))
	}
	return validator{
		name:    "google",
		prepare: toMap,
		check:   func(prepared any) bool { return resolved.Validate(prepared) == nil },
		decode: func(data []byte) (order workload.Order, err error) {
			value, err := toMap(data)
			if err != nil {
				return order, err
			}
			if err := resolved.ApplyDefaults(&value); err != nil {
				return order, err
			}
			if err := resolved.Validate(value); err != nil {
				return order, err
			}
			completed, err := json.Marshal(value)
			if err != nil {
				return order, err
			}
			return order, json.Unmarshal(completed, &order)
		},
	}
}
