// Package idempotency remembers what was done under the keys that clients
// chose, so that a call whose answer was lost can be repeated without doing
// again what it did.
//
//	app := ambit.New(ambit.Options{
//		Name:   "notes",
//		Ledger: idempotency.NewMemory(idempotency.Options{}),
//	})
//
// A client gives each new call that changes something a key of its own, a
// random one, and repeats the call with the same key until it has an answer:
// the header Idempotency-Key over HTTP, dev.ambit/idempotency-key in the _meta
// of MCP, [ambit.WithIdempotencyKey] in Go, --idempotency-key on the command
// line. The call runs once. Whoever repeats it gets its answer, success or
// failure, marked as a repetition. docs/idempotency.md tells what happens in
// every case.
//
// # Memory
//
// [Memory] keeps the records in the memory of one process. That is enough for
// tests, for development, and for an application of one process whose clients
// can bear that a restart forgets: a repetition after it runs again. Several
// instances behind one address need a store that they share.
//
// It is bounded. Where it has no room for another record, it refuses the call
// before anything has happened; it never forgets a record early to make room,
// because that would let a call run twice.
package idempotency
