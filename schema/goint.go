package schema

import "strconv"

// signedRules are the bounds of a signed integer type. The bounds of 64 bits are checked but
// not published: readers of JSON that keep numbers as float64 would round them.
func signedRules(size int) *numberRules {
	if size == 64 {
		return nil
	}
	last := int64(1)<<(size-1) - 1
	r := &numberRules{
		minimum: newLimit(appendInt(nil, -last-1)),
		maximum: newLimit(appendInt(nil, last)),
		kind:    true,
	}
	r.seal()
	return r
}

// unsignedRules are the bounds of an unsigned integer type.
func unsignedRules(size int) *numberRules {
	r := &numberRules{minimum: newLimit([]byte("0")), kind: true}
	if size < 64 {
		r.maximum = newLimit(strconv.AppendUint(nil, 1<<size-1, 10))
	}
	r.seal()
	return r
}
