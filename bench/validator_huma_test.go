package bench_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// humaValidator validates as huma's request handling does: over a decoded map,
// with a path buffer and a result that are used again, and for the typed value
// by decoding the bytes a second time.
func humaValidator() validator {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[workload.Order](), false, "Order")
	path := huma.NewPathBuffer(nil, 0)
	result := &huma.ValidateResult{}
	validate := func(value any) []error {
		path.Reset()
		result.Reset()
		huma.Validate(registry, schema, path, huma.ModeWriteToServer, value, result)
		return result.Errors
	}
	faults := func(data []byte) []error {
		value, err := toMap(data)
		if err != nil {
			return []error{err}
		}
		return validate(value)
	}
	return validator{
		name:    "huma",
		prepare: toMap,
		check:   func(prepared any) bool { return len(validate(prepared)) == 0 },
		decode: func(data []byte) (order workload.Order, err error) {
			if found := faults(data); len(found) > 0 {
				return order, errors.Join(found...)
			}
			return order, json.Unmarshal(data, &order)
		},
		faults:   func(data []byte) int { return len(faults(data)) },
		pointers: func(data []byte) []string { return humaPointers(faults(data)) },
	}
}

var (
	humaMissing = regexp.MustCompile(`^expected required property (\w+) to be present`)
	humaIndex   = regexp.MustCompile(`\[(\d+)\]`)
)

// humaPointers translates huma's dotted places.
func humaPointers(faults []error) []string {
	pointers := make([]string, 0, len(faults))
	for _, fault := range faults {
		detail, ok := errors.AsType[*huma.ErrorDetail](fault)
		if !ok {
			pointers = append(pointers, fault.Error())
			continue
		}
		place := strings.ReplaceAll(humaIndex.ReplaceAllString(detail.Location, ".$1"), ".", "/")
		if missing := humaMissing.FindStringSubmatch(detail.Message); missing != nil {
			place += "/" + missing[1]
		}
		pointers = append(pointers, "/"+place)
	}
	return pointers
}
