// Package sqlite keeps in one SQLite file what a person has allowed, what was
// done once, and what happened: it implements every store interface of Ambit.
//
//	store, err := sqlite.Open(ctx, "notes.db", sqlite.Options{})
//	...
//	defer store.Close()
//	app := ambit.New(ambit.Options{Name: "notes", Ledger: store})
//
// A [Store] is a Ledger, an approval.Store and an audit.Store by itself; its
// other parts are views: [Store.Keys] for API keys, [Store.Nonces] and
// [Store.Replays] for what may be used once, [Store.Halts] for the halt switch,
// and [Store.Take] for rates that processes share.
//
// Any number of processes on one machine may use a file at the same time. Writers
// take turns, readers wait for nobody. A claim is on disk before its call starts.
//
// [New] works on a database of the application's own, with a prefix before the
// names of its tables. A handler that changes the same database can then have its
// change and the outcome of its call committed together, see [Store.WithTx].
//
// All statements go by the database's clock.
package sqlite
