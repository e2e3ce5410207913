// Package postgres keeps in PostgreSQL what a person has allowed, what was done
// once, and what happened: it implements every store interface of Ambit, for any
// number of instances of an application.
//
//	store, err := postgres.Open(ctx, "postgres://app@db.example/app", postgres.Options{})
//	...
//	defer store.Close()
//	app := ambit.New(ambit.Options{Name: "notes", Ledger: store})
//
// A [Store] is a Ledger, an approval.Store and an audit.Store by itself; its
// other parts are views: [Store.Keys] for API keys, [Store.Nonces] and
// [Store.Replays] for what may be used once, [Store.Halts] for the halt switch,
// and [Store.Take] for rates that instances share.
//
// [New] works on a pool of the application's own, with a schema and a prefix for
// its tables. A handler that changes the same database can then have its change
// and the outcome of its call committed together, see [Store.WithTx].
//
// All statements go by the database's clock, so that instances whose clocks
// differ agree. While the server cannot be reached, methods return errors, which
// refuse calls as unavailable; they work again when it can.
package postgres
