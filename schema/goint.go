package schema

import "strconv"

const (
	atLeast  = "must be at least "
	atMost   = "must be at most "
	above    = "must be greater than "
	below    = "must be less than "
	multiple = "must be a multiple of "
)

// signedRules are the bounds of a signed integer type. The bounds of 64 bits are checked but
// not published: readers of JSON that keep numbers as float64 would round them.
func signedRules(size int) *numberRules {
	if size == 64 {
		return nil
	}
	last := int64(1)<<(size-1) - 1
	r := &numberRules{
		minimum: newLimit(appendInt(nil, -last-1), atLeast),
		maximum: newLimit(appendInt(nil, last), atMost),
		kind:    true,
	}
	r.seal()
	return r
}

// unsignedRules are the bounds of an unsigned integer type.
func unsignedRules(size int) *numberRules {
	r := &numberRules{minimum: newLimit([]byte("0"), atLeast), kind: true}
	if size < 64 {
		r.maximum = newLimit(strconv.AppendUint(nil, 1<<size-1, 10), atMost)
	}
	r.seal()
	return r
}
