package bench_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/bench/internal/side"
	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// inProcessClients are the sides that can be called without a network.
func inProcessClients() []inProcessClient {
	return []inProcessClient{
		{"ambit", side.AmbitClient},
		{"mcpgo", side.MCPGoClient},
		{"gosdk", side.GoSDKClient},
	}
}

type inProcessClient struct {
	name string
	open func(context.Context) (*side.Client, error)
}

// BenchmarkInProcess is a typed call from Go code in the same process: with
// permission, both checks and an observer on Ambit's side, with both checks on
// mcp-go's and the official SDK's.
func BenchmarkInProcess(b *testing.B) {
	for _, c := range inProcessClients() {
		b.Run(c.name, func(b *testing.B) {
			client := openClient(b, c)
			order := workload.ValidOrder()
			ctx := b.Context()
			meter(b)
			for b.Loop() {
				if _, err := client.Call(ctx, order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestInProcess(t *testing.T) {
	t.Parallel()
	for _, c := range inProcessClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			openClient(t, c)
		})
	}
}

// openClient opens the side and fails unless a call gives the right hits.
func openClient(tb testing.TB, c inProcessClient) *side.Client {
	tb.Helper()
	client, err := c.open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Errorf("closing %s: %v", c.name, err)
		}
	})
	order := workload.ValidOrder()
	got, err := client.Call(tb.Context(), order)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(workload.Find(order), got); diff != "" {
		tb.Fatalf("%s: wrong hits (-want +got):\n%s", c.name, diff)
	}
	return client
}
