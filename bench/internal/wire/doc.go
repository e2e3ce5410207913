// Package wire spells the requests that a benchmark sends and reads the answers
// that come back, for plain HTTP and for the Model Context Protocol in revision
// 2026-07-28. It is shared by the benchmarks, which call a handler directly, and
// by the load program, which goes through a socket, so that both send the same
// bytes.
package wire
