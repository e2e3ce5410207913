// Package workload holds the one piece of work that every side of a benchmark
// does: an operation that takes an [Order] and answers with the [Hits] that
// suit it, the bytes of a right and of a wrong order, and the same contract as
// JSON Schema text for the sides that can't read it from Go tags.
//
// Nothing in it depends on Ambit or on a peer, so no side can be favored by
// the way the work is written down.
package workload
