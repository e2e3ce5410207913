package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

type greetInput struct {
	Name string `json:"name" doc:"Whom to greet" minLength:"1"`
}

type greetOutput struct {
	Text string `json:"text"`
}

func greeter() *ambit.App {
	app := ambit.New(ambit.Options{Name: "hello", Version: "1.0.0"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.MCP,
	}, func(_ context.Context, in greetInput) (greetOutput, error) {
		return greetOutput{Text: "Hello, " + in.Name}, nil
	}))
	return app
}

func Example() {
	server, err := mcp.New(greeter(), mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", server)

	r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"text":"Hello, Ada"},"content":[{"type":"text","text":"{\"text\":\"Hello, Ada\"}"}]}}
}

func ExampleSession_Handle() {
	server, err := mcp.New(greeter(), mcp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	session := server.NewSession(&ambit.Principal{Authority: "stdio", Subject: "ada"}, nil)
	response := session.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	fmt.Printf("%s\n", response)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{}}
}

func ExampleServer_ServeStdio() {
	server, err := mcp.New(greeter(), mcp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	requests := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}` + "\n")
	if err := server.ServeStdio(context.Background(), requests, os.Stdout, &ambit.Principal{Authority: "stdio", Subject: "ada"}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"Hello, Ada\"}"}]}}
}
