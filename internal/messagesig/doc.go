// Package messagesig reads and writes HTTP message signatures (RFC 9421) and
// content digests (RFC 9530). It knows what a signature covers and which bytes
// are signed; whose key it is, and whether what is covered is enough, is for
// who uses it to judge.
//
// Of RFC 9421 it has what agents that sign their requests need: all derived
// components but @query-param, the component parameters key and req, and no
// others. A signature with a component that it does not know has no base.
package messagesig

// How much work a header may ask for. A field beyond it is an error before any
// of it is parsed.
const (
	MaxSignatures = 4
	MaxComponents = 16
	MaxBytes      = 8 << 10 // of all lines of one field together

	maxParams  = 128 // in one field
	maxItems   = 128
	maxBase    = 64 << 10 // of what all signatures of a message cover
	maxMembers = 16 << 10 // of the fields of a message that are parsed for members
)
