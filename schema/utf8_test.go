package schema

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestValidUTF8 puts every byte, and texts of more than one, at every place of short and long
// texts.
func TestValidUTF8(t *testing.T) {
	t.Parallel()
	parts := []string{"é", "€", "😀", "\xed\xa0\x80", "\xc3", "\xf4\x90\x80\x80"}
	for b := range 256 {
		parts = append(parts, string([]byte{byte(b)}))
	}
	for size := range 20 {
		for at := range size + 1 {
			for _, part := range parts {
				s := strings.Repeat("a", at) + part + strings.Repeat("b", size-at)
				if got, want := validUTF8(s), utf8.ValidString(s); got != want {
					t.Fatalf("%q: want %v, got %v", s, want, got)
				}
			}
		}
	}
	if !validUTF8("") {
		t.Error("the empty text: want valid")
	}
}
