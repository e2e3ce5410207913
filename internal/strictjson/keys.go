package strictjson

import (
	"bytes"
	"hash/maphash"
)

// fewKeys is how many keys [Keys] compares one by one; beyond it, it keeps an index.
const fewKeys = 16

// Keys remembers the keys of one object in order to find a repeated one. The zero value is an
// empty set. It keeps the slices that it is given. Up to 16 keys it allocates nothing.
type Keys struct {
	few   [fewKeys][]byte
	count int
	many  map[uint64][]byte
	seed  maphash.Seed
}

// Add remembers key, decoded, and reports whether it is new.
func (k *Keys) Add(key []byte) bool {
	if k.many == nil {
		for _, known := range k.few[:k.count] {
			if bytes.Equal(known, key) {
				return false
			}
		}
		if k.count < fewKeys {
			k.few[k.count] = key
			k.count++
			return true
		}
		// The seed is random, so that no one can prepare keys that collide.
		k.seed = maphash.MakeSeed()
		k.many = make(map[uint64][]byte, 4*fewKeys)
		for _, known := range k.few {
			k.index(known)
		}
	}
	return k.index(key)
}

// index adds key to the index. Two different keys with one hash take the next free place.
func (k *Keys) index(key []byte) bool {
	for h := maphash.Bytes(k.seed, key); ; h++ {
		known, taken := k.many[h]
		if !taken {
			k.many[h] = key
			return true
		}
		if bytes.Equal(known, key) {
			return false
		}
	}
}
