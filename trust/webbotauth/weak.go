package webbotauth

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
)

// published are the thumbprints of keys whose private halves stand in RFCs and
// drafts, so that everybody can sign with them: those of RFC 9421, appendix
// B.1.4 (and B.1.2, which the drafts of Web Bot Auth use as well) and of RFC 8037,
// appendix A.
var published = map[string]bool{
	"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U": true,
	"oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA": true,
	"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k": true,
}

// smallOrder are the encodings of points of small order, without the bit of the
// sign. For a key that is one of them a signature can be made without a private
// key.
var smallOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// weak reports whether anybody can make signatures that verify with a public
// key.
func weak(public [ed25519.PublicKeySize]byte) bool {
	public[len(public)-1] &= 0x7f
	for _, text := range smallOrder {
		point, err := hex.DecodeString(text)
		if err != nil || bytes.Equal(point, public[:]) {
			return true
		}
	}
	return false
}
