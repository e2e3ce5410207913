package bench_test

import (
	"testing"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/wire"
	"github.com/ambit-dev/ambit/trust"
)

// keyCallers make one call with the same header, which the first side does not
// look at.
func keyCallers() []caller {
	call := wire.EnvelopeCall(side.AmbitPath).Bearer(side.AmbitKey)
	return []caller{
		{"none", side.AmbitKeyless, call},
		{"fixed", side.AmbitHTTP, call},
		{"stored", side.AmbitStoredKey, call},
	}
}

// BenchmarkKey is what an API key adds to a call over HTTP, through the recorder:
// none, one that is fixed, and one that is in a store. The sides named alone are
// the look at the key by itself, which is less than the weather between two whole
// calls.
func BenchmarkKey(b *testing.B) {
	benchmarkCallers(b, keyCallers())
	for _, alone := range []struct {
		name string
		key  trust.Authenticator
	}{{"fixed-alone", side.FixedKey()}, {"stored-alone", side.StoredKey()}} {
		b.Run(alone.name, func(b *testing.B) {
			r := wire.EnvelopeCall(side.AmbitPath).Bearer(side.AmbitKey).Request()
			meter(b)
			for b.Loop() {
				if identity, err := alone.key.Authenticate(r); err != nil || identity == nil {
					b.Fatalf("the key is not known: %v", err)
				}
			}
		})
	}
}

func TestKey(t *testing.T) { testCallers(t, keyCallers()) }
