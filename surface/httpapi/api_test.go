package httpapi_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
)

func nothing(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }

func withPath(name, path string) ambit.AnyCapability {
	s := spec(name, ambit.Read, ambit.Public)
	s.Path = path
	return ambit.Define(s, nothing)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		want         string
		options      httpapi.Options
		capabilities []ambit.AnyCapability
	}{
		{`"a.b" and "z" both have the path "a/b"`, httpapi.Options{}, []ambit.AnyCapability{withPath("a.b", ""), withPath("z", "/a/b")}},
		{`"y" and "z" both have the path "same"`, httpapi.Options{}, []ambit.AnyCapability{withPath("y", "same"), withPath("z", "/same")}},
		{"Options.Prefix is", httpapi.Options{Prefix: "api/"}, nil},
		{"Options.Prefix is", httpapi.Options{Prefix: "/api"}, nil},
		{"Options.Prefix is", httpapi.Options{Prefix: "//"}, nil},
		{"Options.Prefix is", httpapi.Options{Prefix: "/a/../b/"}, nil},
		{"Options.Prefix is", httpapi.Options{Prefix: "/a b/"}, nil},
		{"Options.Prefix is", httpapi.Options{Prefix: "/{name}/"}, nil},
		{"Options.Hosts holds", httpapi.Options{Trust: trust.Options{Hosts: []string{"*"}}}, nil},
	}
	for _, tt := range tests {
		app := ambit.New(ambit.Options{Name: "test"})
		app.Add(tt.capabilities...)
		api, err := httpapi.New(app, tt.options)
		if api != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want an error with %q, got %v", tt.want, err)
		}
	}
	if _, err := httpapi.New(ambit.New(ambit.Options{}), httpapi.Options{}); err == nil {
		t.Error("an application that cannot be frozen: want an error, got none")
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prefix, path string
		want         int
	}{
		{"", "/api/greet", 200},
		{"", "/api", 200},
		{"", "/ap", 404},
		{"", "/greet", 404},
		{"", "/apigreet", 404},
		{"", "/", 404},
		{"/", "/greet", 200},
		{"/", "/greet/", 200},
		{"/", "/", 200},
		{"/", "/api/greet", 404},
		{"/v1/agents/", "/v1/agents/greet", 200},
		{"/v1/agents/", "/v1/agents", 200},
		{"/v1/agents/", "/v1/", 404},
	}
	for _, tt := range tests {
		options := openToAll()
		options.Prefix = tt.prefix
		api := newAPI(t, fixture(ambit.Options{}), options)
		method := "POST"
		if strings.TrimSuffix(tt.path, "/")+"/" == tt.prefix || tt.path == "/api" {
			method = "GET"
		}
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, httptest.NewRequest(method, "http://localhost"+tt.path, nil))
		if recorder.Code != tt.want {
			t.Errorf("prefix %q, %s %s: want %d, got\n%s", tt.prefix, method, tt.path, tt.want, render(recorder))
		}
	}
}

// TestBareHandler: without authenticators and without being told, a handler
// does not answer other machines.
func TestBareHandler(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newAPI(t, fixture(ambit.Options{}), httpapi.Options{}))
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/api/")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("over loopback: want 200, got %d", response.StatusCode)
	}
	got := answer(t, newAPI(t, fixture(ambit.Options{}), httpapi.Options{}), []byte("GET /api/\n"))
	if !strings.HasPrefix(got, "403") {
		t.Errorf("from nowhere: want 403, got\n%s", got)
	}
}
