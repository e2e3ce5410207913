package interop_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/surface/mcp/interop/internal/fixture"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// serveHTTP serves the fixture on a free port of this machine to whoever has
// the returned target's token, until the test ends.
func serveHTTP(t *testing.T) target {
	t.Helper()
	key := apikey.Generate()
	keys, err := apikey.New(apikey.Key{Name: "reader", Secret: key, Principal: fixture.Reader()})
	if err != nil {
		t.Fatal(err)
	}
	who := trust.Options{Authenticators: []trust.Authenticator{keys}}
	return target{URL: serve(t, who), Token: key}
}

// serveConformance serves the fixture to anyone: the suite has no credential.
func serveConformance(t *testing.T) string {
	t.Helper()
	return serve(t, trust.Options{})
}

func serve(t *testing.T, who trust.Options) string {
	t.Helper()
	server, err := mcp.New(fixture.App(slog.New(slog.NewTextHandler(t.Output(), nil))), mcp.Options{Trust: who})
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
	server, err := mcp.New(fixture.App(slog.New(slog.NewTextHandler(os.Stderr, nil))), mcp.Options{})
	if err != nil {
		return err
	}
	reader := fixture.Reader()
	reader.Authority = "stdio"
	return server.ServeStdio(context.Background(), os.Stdin, os.Stdout, reader)
}
