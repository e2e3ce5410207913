// Package memory keeps what a database would, in the memory of one process, for
// tests: whatever is not durable is not safe to approve, to confirm or to prove
// by. It passes the suite of package storetest, as the databases do.
//
//	store := memory.New()
//	app := ambit.New(ambit.Options{Name: "notes", Ledger: store})
//
// A [Store] is a Ledger, an approval.Store and an audit.Store by itself; its
// other parts are views: [Store.Keys] for API keys, [Store.Nonces] and
// [Store.Replays] for what may be used once, [Store.Halts] for the halt switch,
// and [Store.Take] for rates.
//
// Nothing is forgotten to make room. Keys, nonces and buckets that have expired are
// removed once a minute by what adds others, and closed proposals by [Store.Forget].
package memory
