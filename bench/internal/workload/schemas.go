package workload

import _ "embed"

var (
	//go:embed testdata/order.schema.json
	orderSchema string
	//go:embed testdata/hits.schema.json
	hitsSchema string
)

// OrderSchema returns the contract of [Order] as JSON Schema 2020-12 text.
func OrderSchema() []byte { return []byte(orderSchema) }

// HitsSchema returns the contract of [Hits] as JSON Schema 2020-12 text.
func HitsSchema() []byte { return []byte(hitsSchema) }
