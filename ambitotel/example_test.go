package ambitotel_test

import (
	"context"
	"fmt"
	"log"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambitotel"
)

type greetInput struct {
	Name string `json:"name" minLength:"1"`
}

type greetOutput struct {
	Text string `json:"text"`
}

func greet(_ context.Context, in greetInput) (greetOutput, error) {
	return greetOutput{Text: "Hello, " + in.Name}, nil
}

func Example() {
	// An application has an exporter here; this one keeps its spans.
	exporter := tracetest.NewInMemoryExporter()
	observer, err := ambitotel.New(ambitotel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)),
		// Calls by the application's own gateway continue its traces.
		TrustCaller: func(_ context.Context, e ambit.Event) bool { return e.Kind == ambit.KindService },
	})
	if err != nil {
		log.Fatal(err)
	}
	app := ambit.New(ambit.Options{Name: "hello", Observers: []ambit.Observer{observer}})
	app.Add(ambit.Define(ambit.Spec{
		Name: "greet", Description: "Greet someone by name.",
		Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.MCP,
	}, greet))

	ctx, run := app.NewRun(context.Background(), ambit.RunOptions{
		Principal: &ambit.Principal{Authority: "example", Subject: "ann"}, Surface: ambit.MCP,
	})
	defer run.End()
	for _, input := range []string{`{"name":"Ann"}`, `{}`} {
		_, _ = run.Invoke(ctx, ambit.Request{Name: "greet", Input: []byte(input)})
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name, span.SpanKind, span.Status.Code)
	}
	// Output:
	// tools/call greet server Unset
	// tools/call greet server Error
}
