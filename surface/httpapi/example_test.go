package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
)

type greetInput struct {
	Name string `json:"name" doc:"Whom to greet" minLength:"1"`
}

type greetOutput struct {
	Text string `json:"text"`
}

// A capability that everyone may call, on the machine itself.
func Example() {
	app := ambit.New(ambit.Options{Name: "hello"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
	}, func(_ context.Context, in greetInput) (greetOutput, error) {
		return greetOutput{Text: "Hello, " + in.Name}, nil
	}))
	handler, err := httpapi.New(app, httpapi.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	for _, input := range []string{`{"name":"Ada"}`, `{"nam":"Ada"}`} {
		response, err := http.Post(server.URL+"/api/greet", "application/json", strings.NewReader(input))
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Printf("%d %.60s\n", response.StatusCode, body)
	}
	// Output:
	// 200 {"ok":true,"data":{"text":"Hello, Ada"}}
	// 400 {"ok":false,"error":{"code":"invalid_input","message":"The i
}
