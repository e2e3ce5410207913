package schema

// fieldSet is a set of field numbers. The zero value is empty; up to 64 it allocates nothing.
type fieldSet struct {
	low  uint64
	high *[]uint64 // nil up to 64; most objects have few fields, and all keep two sets
}

func (b *fieldSet) set(i int) {
	if i < 64 {
		b.low |= 1 << i
		return
	}
	if b.high == nil {
		b.high = new([]uint64)
	}
	for len(*b.high) < i/64 {
		*b.high = append(*b.high, 0)
	}
	(*b.high)[i/64-1] |= 1 << (i % 64)
}

func (b *fieldSet) has(i int) bool {
	if i < 64 {
		return b.low&(1<<i) != 0
	}
	return b.high != nil && len(*b.high) >= i/64 && (*b.high)[i/64-1]&(1<<(i%64)) != 0
}

// without reports whether b has a member that other lacks.
func (b *fieldSet) without(other *fieldSet) bool {
	if b.low&^other.low != 0 {
		return true
	}
	if b.high == nil {
		return false
	}
	for i, word := range *b.high {
		if other.high != nil && i < len(*other.high) {
			word &^= (*other.high)[i]
		}
		if word != 0 {
			return true
		}
	}
	return false
}
