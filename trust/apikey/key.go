package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
)

const (
	prefix      = "ambit_"
	digits      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomSize  = 32
	checkedSize = len(prefix) + randomSize
	keySize     = checkedSize + 6
)

// hash is what is kept of a key.
type hash [sha256.Size]byte

// String returns the hash as records hold it.
func (h hash) String() string { return hex.EncodeToString(h[:]) }

// Generate returns a new key. It does not fail.
func Generate() string {
	key := make([]byte, 0, keySize)
	key = append(key, prefix...)
	var random [2 * randomSize]byte
	for len(key) < checkedSize {
		_, _ = rand.Read(random[:]) // crypto/rand.Read never fails (Go 1.24)
		for _, b := range random {
			// 248 is the largest multiple of 62 in a byte: taking less would
			// favor the first digits.
			if b < 248 && len(key) < checkedSize {
				key = append(key, digits[b%62])
			}
		}
	}
	check := checksum(string(key))
	return string(append(key, check[:]...))
}

// Hash returns the SHA-256 of a key in hexadecimal digits, the form in which a
// [Record] holds it.
func Hash(key string) string { return hash(sha256.Sum256([]byte(key))).String() }

// wellFormed reports whether a text has the form of a key, checksum included.
func wellFormed(key string) bool {
	if len(key) != keySize || key[:len(prefix)] != prefix {
		return false
	}
	for i := len(prefix); i < keySize; i++ {
		c := key[i]
		if !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return false
		}
	}
	check := checksum(key[:checkedSize])
	return string(check[:]) == key[checkedSize:]
}

// checksum returns the last six digits of a key that begins with the text. It
// goes through the table of package crc32 by itself: the package's own functions
// make the bytes escape to the heap, once for each request.
func checksum(text string) (check [keySize - checkedSize]byte) {
	sum := ^uint32(0)
	for i := range len(text) {
		sum = crc32.IEEETable[byte(sum)^text[i]] ^ sum>>8
	}
	sum = ^sum
	for i := len(check) - 1; i >= 0; i-- {
		check[i] = digits[sum%62]
		sum /= 62
	}
	return check
}

// sumOf hashes a well-formed key without allocating.
func sumOf(key string) hash {
	var text [keySize]byte
	copy(text[:], key)
	return sha256.Sum256(text[:])
}
