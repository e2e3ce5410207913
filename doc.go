// Package ambit lets an application write each operation once and serve it to
// people, programs and agents with the same checks, the same errors and the
// same record of what happened.
//
// # Capabilities
//
// A capability is a contract and its implementation. The contract is a [Spec]
// (name, description, [Effect], permission, exposure) and two Go types, from
// which input and output schemas are made. [Define] makes a capability in one
// step; [NewContract] and Bind keep the contract apart, in a package that
// callers import.
//
//	var Search = ambit.NewContract[SearchInput, SearchOutput](ambit.Spec{
//		Name: "notes.search", Description: "Find notes whose title or body contains every word of the query.",
//		Effect: ambit.Read, Permission: "notes:read", Expose: ambit.HTTP | ambit.MCP,
//	})
//
//	app := ambit.New(ambit.Options{Name: "notes"})
//	app.Add(Search.Bind(store.Search))
//
// A mistake in a contract panics in [App.Add] and names the capability and the
// cure; what needs the whole application is an error of [App.Freeze], which
// every way of serving calls.
//
// # Calls
//
// A call belongs to a [Run], which says on whose behalf it is made.
//
//	ctx, run := app.NewRun(ctx, ambit.RunOptions{Principal: alice})
//	defer run.End()
//	out, err := Search.Call(ctx, SearchInput{Query: "roadmap"})
//
// The same line works in application code, inside another handler and in a
// test. Surfaces make the same call from JSON with [Run.Invoke]. Either way it
// passes one pipeline: is the capability reachable here and may this
// [Principal] call it ([Run.Admit]); is the input valid; does the
// application's own rule allow it; may it run without asking anyone; then
// middleware and handler within a deadline; is the output what the contract
// promised. Every call ends in one [Event] for every [Observer].
//
// A handler takes what it wants of its call from its context, see
// [FromContext].
//
// # Repetition
//
// With an idempotency key ([WithIdempotencyKey], [Request.IdempotencyKey]) a
// call happens once, however often it is repeated: the [Ledger] of
// [Options.Ledger] has the record, and docs/idempotency.md every case.
//
// # Errors
//
// Every error is an [*Error] with a [Code] of a closed set. A handler returns
// [Errorf] or [Invalid] for what the caller should know; the text of any other
// error, and of a panic, is logged and not sent.
//
// # Rights
//
// A contract names one permission; the application's [Policy] decides who
// holds it. What a caller may not reach is not listed, and what is listed can
// be called: listings ([Catalog]) and calls share one check.
package ambit
