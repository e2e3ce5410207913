package serve_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
)

// A caller who reports a failure knows the id of the request and no other, so that
// every line about the failure has it.
func TestRequestIDInLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	app := ambit.New(ambit.Options{Name: "served", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for name, handler := range map[string]func(context.Context, ambit.Empty) (ambit.Empty, error){
		"fail":  func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, errors.New("no disk") },
		"panic": func(context.Context, ambit.Empty) (ambit.Empty, error) { panic("no disk") },
	} {
		app.Add(ambit.Define(ambit.Spec{
			Name: name, Description: "Fail.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
		}, handler))
	}
	handler, err := serve.Handler(app, serve.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, path, body string
		want             []string
	}{
		{"failure over HTTP", "/api/fail", "{}", []string{"call failed"}},
		{"panic over HTTP", "/api/panic", "{}", []string{"panic in the application", "call failed"}},
		{"failure over MCP", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}`, []string{"call failed"}},
	} {
		log.Reset()
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+test.path, strings.NewReader(test.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set(trust.RequestIDHeader, "req-7")
		handler.ServeHTTP(httptest.NewRecorder(), r)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != len(test.want) {
			t.Fatalf("%s: want %d lines, got\n%s", test.name, len(test.want), log.String())
		}
		for i, line := range lines {
			if !strings.Contains(line, test.want[i]) || !strings.Contains(line, " request=req-7 ") {
				t.Errorf("%s: want a line with %q and the request, got %s", test.name, test.want[i], line)
			}
		}
	}
}
