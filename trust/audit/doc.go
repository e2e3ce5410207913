// Package audit keeps a record of what happened that cannot be altered without
// being found out.
//
// A [Log] stands between an application and its store. Given to the application
// as its Ledger it writes an entry for every call: for those that execute, reach outside or destroy, an intent in the transaction
// that claims the call, before anything has happened, and the outcome afterwards;
// for writes the outcome, for which there is room before they run; for reads and
// refusals what there is room for, and a count of the rest.
//
// Entries are chained by a keyed hash, a chain for each tenant and writer, and
// signed checkpoints leave the store, so that [Log.Verify] finds what was altered,
// reordered, removed, cut off or made up by somebody who can write to the store
// and does not have the keys.
package audit
