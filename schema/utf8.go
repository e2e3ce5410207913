package schema

import "unicode/utf8"

// validUTF8 is utf8.ValidString for text that is mostly ASCII: most strings of a Go value are,
// and this is what checking one costs most.
func validUTF8(s string) bool { return ascii(s) || utf8.ValidString(s) }

// ascii reports whether no byte of s is beyond ASCII. It takes eight at a time, and for those
// left over the last eight once more.
func ascii(s string) bool {
	if len(s) < 8 {
		var all byte
		for i := range len(s) {
			all |= s[i]
		}
		return all < utf8.RuneSelf
	}
	all := eight(s[len(s)-8:])
	for len(s) >= 8 {
		all |= eight(s)
		s = s[8:]
	}
	return all&0x8080808080808080 == 0
}

// eight returns the first eight bytes of s; the compiler makes one load of it.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
