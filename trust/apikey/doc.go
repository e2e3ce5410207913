// Package apikey authenticates callers by API keys, sent as
// "Authorization: Bearer KEY".
//
// # Keys
//
// A key is "ambit_", 32 random letters and digits (190 bits), and 6 more that
// are a checksum of all before them, so that scanners can find a key that leaked
// and a mistyped one is refused without a look-up:
//
//	ambit_qXJMyNnOtsdQTqvhVQmL9k88beX9JQ1k13jEVc
//
// The checksum is the CRC-32 (IEEE) of the first 38 bytes, written in base 62
// with the digits 0-9, A-Z, a-z, the most significant first, padded with 0.
// [Generate] makes a key and [Hash] its SHA-256, which is all that is kept of it
// in memory. A key is as good as random, so that a plain hash cannot be turned
// back. Keys are read from the Authorization header and from nowhere else.
//
// # Where keys come from
//
// [New] takes keys from code, each with the principal that it stands for.
//
// [FromStore] looks keys up in a [Store], which keeps a [Record] of each: name,
// hash, principal, and when it ends. There, keys are made, replaced and taken back
// while servers run, by the command key of package command or by a program's own
// means, and no server needs to be started anew. [File] is a store in a file.
//
// [Development] keeps the keys themselves in a file that only its owner can read,
// and makes them on first use, so that an example or a developer's own machine
// needs no set-up.
package apikey
