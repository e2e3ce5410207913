package houserules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestT33_LockFile shows that packages from npm are the ones that were locked,
// from wherever a registry has them, and that they run nothing when installed.
func TestT33_LockFile(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	content, err := os.ReadFile(filepath.Join(root, "surface", "mcp", "interop", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct {
			Integrity, Resolved string
			Link                bool
		}
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	if len(lock.Packages) < 2 {
		t.Errorf("want the locked packages, got %d", len(lock.Packages))
	}
	for name, locked := range lock.Packages {
		if name == "" || locked.Link { // the folder itself
			continue
		}
		if !strings.HasPrefix(locked.Integrity, "sha512-") {
			t.Errorf("%s: want a sha512 digest, got %q", name, locked.Integrity)
		}
		if locked.Resolved != "" {
			t.Errorf("%s: want no place to fetch it from, got %q", name, locked.Resolved)
		}
	}

	script, err := os.ReadFile(filepath.Join(root, "test"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(script)) {
		if strings.Contains(line, "npm ") && !strings.Contains(line, "need ") && !strings.Contains(line, "npm ci --ignore-scripts") {
			t.Errorf("want npm to install from the lock file without scripts, got %q", strings.TrimSpace(line))
		}
	}
}
