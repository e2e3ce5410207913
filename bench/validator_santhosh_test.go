package bench_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// santhoshValidator validates with formats asserted, over what the library's own
// decoder makes of the bytes. It knows no defaults; the order has every field.
func santhoshValidator() validator {
	schema := compileSanthosh(workload.OrderSchema())
	prepare := func(data []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(data)) }
	validate := func(data []byte) error {
		value, err := prepare(data)
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
	return validator{
		name:    "santhosh",
		prepare: prepare,
		check:   func(prepared any) bool { return schema.Validate(prepared) == nil },
		decode: func(data []byte) (order workload.Order, err error) {
			if err := validate(data); err != nil {
				return order, err
			}
			return order, json.Unmarshal(data, &order)
		},
		faults:   func(data []byte) int { return countSanthosh(validate(data)) },
		pointers: func(data []byte) []string { return santhoshPointers(validate(data)) },
	}
}

// compileSanthosh compiles one of the workload's own schemas, which are right.
func compileSanthosh(text []byte) *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(fmt.Sprintf("the workload's schema can't be parsed: %v", err))
	}
	const name = "https://bench.example/schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(name, document); err != nil {
		panic(fmt.Sprintf("the workload's schema can't be added: %v", err))
	}
	return compiler.MustCompile(name)
}

// countSanthosh counts the faults at the ends of the library's tree.
func countSanthosh(err error) int {
	count := 0
	eachSanthosh(err, func(*jsonschema.ValidationError) { count++ })
	return count
}

// eachSanthosh visits the faults at the ends of the library's tree.
func eachSanthosh(err error, visit func(*jsonschema.ValidationError)) {
	fault, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return
	}
	if len(fault.Causes) == 0 {
		visit(fault)
	}
	for _, cause := range fault.Causes {
		eachSanthosh(cause, visit)
	}
}

func santhoshPointers(err error) []string {
	var pointers []string
	eachSanthosh(err, func(fault *jsonschema.ValidationError) {
		var place strings.Builder
		for _, token := range fault.InstanceLocation {
			place.WriteString("/" + token)
		}
		switch k := fault.ErrorKind.(type) {
		case *kind.Required:
			for _, name := range k.Missing {
				pointers = append(pointers, place.String()+"/"+name)
			}
		case *kind.AdditionalProperties:
			for _, name := range k.Properties {
				pointers = append(pointers, place.String()+"/"+name)
			}
		default:
			pointers = append(pointers, place.String())
		}
	})
	return pointers
}
