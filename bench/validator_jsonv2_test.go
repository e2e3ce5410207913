package bench_test

import (
	"github.com/go-json-experiment/json"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// jsonv2Decoder decodes in the strict way of JSON v2 and checks nothing, so it
// has a part in the benchmark of decoding alone.
func jsonv2Decoder() validator {
	strict := json.RejectUnknownMembers(true)
	return validator{
		name: "jsonv2",
		decode: func(data []byte) (order workload.Order, err error) {
			return order, json.Unmarshal(data, &order, strict)
		},
	}
}
