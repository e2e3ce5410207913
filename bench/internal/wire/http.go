package wire

import (
	"encoding/json"
	"fmt"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// BareCall returns the exchange that posts the valid order to path and expects
// the hits as the whole body, which is huma's form.
func BareCall(path string) *Exchange {
	return &Exchange{Path: path, Body: []byte(workload.ValidJSON), Verify: sameHits}
}

// EnvelopeCall returns the exchange that posts the valid order to path and
// expects the hits as the data of an envelope, which is Ambit's form.
func EnvelopeCall(path string) *Exchange {
	return &Exchange{Path: path, Body: []byte(workload.ValidJSON), Verify: func(body []byte) error {
		var envelope struct {
			OK   bool            `json:"ok"`
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			return err
		}
		if !envelope.OK {
			return fmt.Errorf("the envelope says ok: false")
		}
		return sameHits(envelope.Data)
	}}
}
