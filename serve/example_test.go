package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
)

type helloInput struct {
	Name string `json:"name" minLength:"1"`
}

type helloOutput struct {
	Text string `json:"text"`
}

// A server on a free port, which ends with its context.
func ExampleListenAndServe() {
	app := ambit.New(ambit.Options{Name: "hello"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "hello", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP,
	}, func(_ context.Context, in helloInput) (helloOutput, error) {
		return helloOutput{Text: "Hello, " + in.Name}, nil
	}))

	ctx, stop := context.WithCancel(context.Background())
	err := serve.ListenAndServe(ctx, "127.0.0.1:0", app, serve.Options{
		Ready: func(address net.Addr) {
			go func() {
				defer stop()
				url := "http://" + address.String() + "/api/hello"
				response, err := http.Post(url, "application/json", strings.NewReader(`{"name":"Ada"}`))
				if err != nil {
					fmt.Println(err)
					return
				}
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body)
				fmt.Println(string(body))
				http.DefaultClient.CloseIdleConnections()
			}()
		},
	})
	fmt.Println(err)
	// Output:
	// {"ok":true,"data":{"text":"Hello, Ada"}}
	// <nil>
}
