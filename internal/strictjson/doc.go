// Package strictjson reads JSON the way Ambit reads it everywhere: RFC 8259 to the letter,
// valid UTF-8 only, no lone surrogates, no trailing data, and never deeper than a stated limit.
//
// The functions work in place on a byte slice and a position, and allocate nothing unless a
// string with escapes has to be decoded. There are three levels:
//
//   - a lexer: [Space], [String], [Number], [Literal] and [Skip] take a position and return
//     the next one;
//   - iterators: [Members] and [Elements] walk one object or array and hand out slices of it;
//   - [Valid] gives the verdict on a whole text.
//
// None of them looks for duplicate keys, because a caller wants to say where the second one
// stands in terms of its own format; [Keys] finds them.
//
// The package is also the only one that imports github.com/go-json-experiment/json, for values
// whose JSON form their own methods define; see [Marshal] and [Unmarshal].
package strictjson
