// Package structured reads and writes the structured fields of HTTP (RFC 9651) in
// which signatures and digests are written: dictionaries, and fields that are one
// item.
//
// It is stricter than the RFC where readers of one field could come to different
// results: a member or a parameter that comes twice is an error, and so is a
// string that goes on in another line. Display strings are not read. What it
// returns refers to the text that it was read from.
package structured
