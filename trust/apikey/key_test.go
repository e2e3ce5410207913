package apikey

import (
	"regexp"
	"testing"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^ambit_[0-9A-Za-z]{38}$`)
	seen := map[string]bool{}
	counts := map[rune]int{}
	for range 2000 {
		key := Generate()
		if !form.MatchString(key) || !wellFormed(key) || seen[key] {
			t.Fatalf("want a new well-formed key, got %q", key)
		}
		seen[key] = true
		for _, digit := range key[len(prefix):checkedSize] {
			counts[digit]++
		}
	}
	// 64,000 digits, about 1,032 of each: one that comes up less than 700 or
	// more than 1,400 times is no accident.
	for _, digit := range digits {
		if n := counts[digit]; n < 700 || n > 1400 {
			t.Errorf("digit %c: want about 1032 times, got %d", digit, n)
		}
	}
}

// The example of the package comment, so that the checksum does not change.
func TestChecksum(t *testing.T) {
	t.Parallel()
	const key = "ambit_qXJMyNnOtsdQTqvhVQmL9k88beX9JQ1k13jEVc"
	if !wellFormed(key) {
		check := checksum(key[:checkedSize])
		t.Errorf("checksum: want %s, got %s", key[checkedSize:], check)
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add("ambit_qXJMyNnOtsdQTqvhVQmL9k88beX9JQ1k13jEVc")
	f.Add("ambit_")
	f.Add("")
	f.Fuzz(func(t *testing.T, key string) {
		if wellFormed(key) && (len(key) != keySize || key[:len(prefix)] != prefix) {
			t.Errorf("%q has the form of a key", key)
		}
	})
}
