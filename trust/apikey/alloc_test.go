//go:build !race

package apikey_test

import (
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// What a key adds to a request is no work for the collector.
func TestAuthenticateAlloc(t *testing.T) {
	key := apikey.Generate()
	fixed, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*apikey.Authenticator{"fixed": fixed, "stored": apikey.FromStore(newFakeStore(stored("alice", key)))} {
		r := bearer(key)
		if got := outcome(a, r); got != "alice" {
			t.Fatalf("%s: want alice, got %s", name, got)
		}
		if got := testing.AllocsPerRun(100, func() { _, _ = a.Authenticate(r) }); got != 0 {
			t.Errorf("%s: want no allocation, got %v", name, got)
		}
	}
}
