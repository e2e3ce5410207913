package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ambit-dev/ambit"
)

// TestRing holds that a ring is made once, for its owner alone, whoever starts
// first.
func TestRing(t *testing.T) {
	t.Setenv("AMBIT_KEYS", "")
	path := filepath.Join(t.TempDir(), "new", "keyring")
	rings := make([]*ambit.KeyRing, 8)
	var starters sync.WaitGroup
	for i := range rings {
		starters.Go(func() {
			ring, err := openRing(path)
			if err != nil {
				t.Error(err)
				return
			}
			rings[i] = ring
		})
	}
	starters.Wait()
	sealed := rings[0].Sealer("test", name).Seal(nil, []byte("plain"), nil)
	for i, ring := range rings {
		if _, err := ring.Sealer("test", name).Open(nil, sealed, nil); err != nil {
			t.Errorf("starter %d has another ring: %v", i, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("want a file for its owner alone, got %v, %v", info, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "keyring-*")); err != nil || len(left) > 0 {
		t.Errorf("want nothing left beside it, got %v, %v", left, err)
	}

	t.Setenv("AMBIT_KEYS", ambit.NewKey())
	ring, err := openRing(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Sealer("test", name).Open(nil, sealed, nil); err == nil {
		t.Error("want the ring of AMBIT_KEYS, got that of the file")
	}
}

func TestRingRefuses(t *testing.T) {
	t.Setenv("AMBIT_KEYS", "")
	path := filepath.Join(t.TempDir(), "keyring")
	if err := os.WriteFile(path, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRing(path); err == nil || strings.Contains(err.Error(), "no key") {
		t.Errorf("want an error that does not show what stands in the file, got %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openRing(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("want the cure named, got %v", err)
	}
}
