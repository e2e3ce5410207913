// Package side builds each contender as an http.Handler that answers the shared
// workload, in the way that its own documentation recommends for speed and with
// every check that it can do switched on. One file per contender.
package side
