package webbotauth_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// An application lets a capability be called by an agent that it knows, and by
// nobody else. The agent's requests are signed by its client's transport.
func Example() {
	key := webbotauth.GenerateKey()

	agents, err := webbotauth.New(webbotauth.Options{
		Agents: []webbotauth.Agent{{URL: "https://agent.example.com", Keys: []webbotauth.Key{key.Public()}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = agents.Close() }()
	app := ambit.New(ambit.Options{Name: "signed"})
	app.Add(ambit.Define(ambit.Spec{
		Name: "hello", Description: "Say who carries the call.", Effect: ambit.Read,
		Permission: ambit.Public, Expose: ambit.HTTP, AgentPolicy: ambit.RequireAgentRequest,
	}, func(ctx context.Context, _ ambit.Empty) (string, error) {
		agent := ambit.FromContext(ctx).Agent()
		return "Hello, " + agent.URL + ", by " + agent.Level.String(), nil
	}))
	handler, err := httpapi.New(app, httpapi.Options{Trust: trust.Options{Agents: agents}})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	signer, err := webbotauth.NewSigner(webbotauth.SignerOptions{Key: key, Agent: "https://agent.example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, client := range []*http.Client{{Transport: transport}, {Transport: signer.Transport(transport)}} {
		response, err := client.Post(server.URL+"/api/hello", "application/json", strings.NewReader("{}"))
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, string(body), err)
	}
	// Output:
	// 403 {"ok":false,"error":{"code":"agent_required","message":"This call must be carried by an agent that signs its requests and that this application knows.","hint":"Sign the request by Web Bot Auth, with method, target, content and every header that carries authority covered."}} <nil>
	// 200 {"ok":true,"data":"Hello, https://agent.example.com/.well-known/http-message-signatures-directory, by once"} <nil>
}
