package interop_test

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/surface/mcp/interop/internal/fixture"
	"github.com/ambit-dev/ambit/trust"
)

// serveHTTP serves the fixture on a free port of this machine to whoever has
// the returned target's token, until the test ends.
func serveHTTP(t *testing.T) target {
	t.Helper()
	const token = "interop-reader"
	return target{URL: serve(t, trust.Options{}), Token: token}
}

// serveConformance serves the fixture to anyone: the suite has no credential.
func serveConformance(t *testing.T) string {
	t.Helper()
	return serve(t, trust.Options{AllowUnauthenticated: true})
}

func serve(t *testing.T, who trust.Options) string {
	t.Helper()
	server, err := mcp.New(fixture.App(), mcp.Options{Trust: who})
	if err != nil {
		t.Fatal(err)
	}
	endpoint := httptest.NewServer(server)
	t.Cleanup(endpoint.Close)
	return endpoint.URL + "/mcp"
}

// stdioCommand starts this program again, as a server on its standard streams.
func stdioCommand(t *testing.T) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{program, stdioArgument}
}

// serveStdio serves the fixture on the standard streams until they end.
func serveStdio() error {
	server, err := mcp.New(fixture.App(), mcp.Options{})
	if err != nil {
		return err
	}
	return server.ServeStdio(context.Background(), os.Stdin, os.Stdout, fixture.Reader())
}
