// Package notes holds the contracts of the notes application: what each
// capability is called, what it takes and returns, what effect it has and which
// permission it needs. It holds no implementation, so a program that only wants
// to call the application imports this package and nothing of its store.
//
// Inside a run a capability is called as a typed function:
//
//	out, err := notes.Search.Call(ctx, notes.SearchInput{Query: "roadmap"})
//
// Four permissions are in use: notes:read, notes:write, notes:purge and
// notes:publish. What is missing is data, not an error, when it was asked for (a search without
// hits, a note that does not exist); it is the error not_found when it was to
// be changed.
package notes
