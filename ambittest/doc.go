// Package ambittest tests an application as its callers meet it: as this
// principal, on this way in, expecting this answer. It opens no socket and
// leaves no goroutine behind.
//
//	func TestSearch(t *testing.T) {
//		h := ambittest.New(t, newApp())
//		reader := h.As(ambittest.User("rita", "notes:read"))
//
//		hits := ambittest.Call(reader, notes.Search, notes.SearchInput{Query: "roadmap"})
//		if len(hits.Found) == 0 {
//			t.Error("want a hit, got none")
//		}
//		ambittest.Refused(reader, notes.Create, notes.CreateInput{Title: "New"}, ambit.CodeForbidden)
//	}
//
// [Call] and [Refused] take a contract and Go values. [Client.Call] takes a name
// and JSON text, for inputs that no Go value stands for and for what an answer
// holds beside its output. Either fails the test with what it wanted, what it
// got and the whole error object.
//
// # Ways in
//
// A client calls in-process unless [Client.Over] says otherwise; everything
// works the same on every [Way], so that one test can go them all:
//
//	for _, way := range ambittest.Ways() {
//		t.Run(way.String(), func(t *testing.T) {
//			ambittest.Call(h.In(t).As(editor).Over(way), notes.Create, in)
//		})
//	}
//
// HTTP and MCP requests pass the handlers of packages surface/httpapi and
// surface/mcp. An authenticator of the test host knows every client by its
// principal; a client of [Anonymous] shows no credential and is answered as
// where there are authenticators. An application that is to be served without
// any is tested with [Host.Open].
//
// # Listings
//
// [Client.Listed] is what a caller is shown, [Host.CheckListings] holds an
// application to the promise that what is listed can be called and the reverse,
// whatever its policy and hooks do.
//
// # The gate
//
// [Answers] and [Verdicts] are the person and the monitor of a test: they say what
// was written down, keep what they were shown, and fail the test when they are
// asked more than that. [Host.GateTable] and [Host.Effects] describe all that an
// application lets run, for a file that is compared by [Golden].
// [Host.CheckModules] holds that lazy modules load what they declare.
// [Client.Confirm] makes a call that has to be confirmed, [Client.Decide] is the
// person whom a call waits for, and [Host.CheckVersions] holds that what has a preview
// changes the version that was allowed.
//
// # Halting
//
// A host reads the application's halt sources in [New] and before each call, so
// that what they say holds for the next one. A source that cannot be read lets
// only reads run once ten seconds have passed, or at once where it was never read.
//
// # Secrets
//
// [Host.Canary] looks for a secret in everything that has come out of the
// application, its log included where that is a [Log].
//
// # Time
//
// A host waits for nothing in the background, so that a test of what happens
// after hours runs in a bubble of [testing/synctest], where they pass at once.
//
// # Events
//
// [Host.Events] has one event per call, as observers see it. Where something freezes
// the application before [New] is given it, as approval.NewPage does, put a [Recorder]
// into its options.
package ambittest
