package apikey_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func callers(names ...string) map[string]*ambit.Principal {
	all := map[string]*ambit.Principal{}
	for _, name := range names {
		all[name] = &ambit.Principal{Permissions: []string{"notes:" + name}}
	}
	return all
}

func readKeys(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]string
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestDevelopment(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(folder, "keys.json")

	_, made, err := apikey.Development(path, callers("editor", "reader"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readKeys(t, path), made); diff != "" || len(made) != 2 {
		t.Errorf("first use: want two keys, those of the file (-want +got):\n%s", diff)
	}

	a, again, err := apikey.Development(path, callers("editor", "reader"))
	if err != nil || again != nil {
		t.Errorf("second use: want no new keys, got %v, %v", again, err)
	}
	identity, err := a.Authenticate(authorization("Bearer " + made["reader"]))
	if err != nil {
		t.Fatal(err)
	}
	want := &ambit.Principal{Authority: "apikey", Subject: "reader", Permissions: []string{"notes:reader"}, Unscoped: true, Claims: of("reader")}
	if diff := cmp.Diff(want, identity.Principal); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}

	_, more, err := apikey.Development(path, callers("editor", "reader", "auditor"))
	if err != nil {
		t.Fatal(err)
	}
	all := readKeys(t, path)
	wantAll := map[string]string{"editor": made["editor"], "reader": made["reader"], "auditor": more["auditor"]}
	if diff := cmp.Diff(wantAll, all); diff != "" || len(more) != 1 {
		t.Errorf("one more caller: want one more key and the others kept, got %v (-want +got):\n%s", more, diff)
	}

	if _, _, err := apikey.Development(path, callers("editor")); err == nil || !strings.Contains(err.Error(), "stands for nobody") {
		t.Errorf("a key of nobody's: want an error that says so, got %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("folder: want the file of keys alone, got %v, %v", entries, err)
	}
}

func TestT09_DevelopmentKeysAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such rights")
	}
	folder := filepath.Join(t.TempDir(), "made")
	path := filepath.Join(folder, "keys.json")
	for _, names := range [][]string{{"editor"}, {"editor", "reader"}} {
		if _, _, err := apikey.Development(path, callers(names...)); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]os.FileMode{path: 0o600, folder: 0o700} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("rights of %s for %v: want %#o, got %#o", filepath.Base(name), names, want, got)
			}
		}
	}
	for _, rights := range []os.FileMode{0o640, 0o604, 0o620, 0o601} {
		if err := os.Chmod(path, rights); err != nil {
			t.Fatal(err)
		}
		if _, _, err := apikey.Development(path, callers("editor", "reader")); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("rights %#o: want an error with the cure, got %v", rights, err)
		}
	}
}

func TestT09_DevelopmentErrorsShowNoKey(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	for name, text := range map[string]string{
		"not JSON": key, "not an object": `["` + key + `"]`, "another type": `{"editor": {"key": "` + key + `"}}`,
		"damaged": `{"editor": "` + key[:43] + `"}`, "twice": `{"editor": "` + key + `", "reader": "` + key + `"}`,
	} {
		_, _, err := apikey.Development(write(t, text, 0o600), callers("editor", "reader"))
		if err == nil || strings.Contains(err.Error(), key[6:20]) {
			t.Errorf("%s: want an error without the key, got %v", name, err)
		}
	}
	for _, wrong := range []map[string]*ambit.Principal{{"": {}}, {"editor": nil}} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if _, _, err := apikey.Development(path, wrong); err == nil {
			t.Errorf("callers %v: want an error, got none", wrong)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("callers %v: want no file, got one", wrong)
		}
	}
}

// Many start at once for the first time: all of them end up with the same keys,
// and one of them has made them.
func TestDevelopmentAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	const starts = 8
	var together sync.WaitGroup
	made := make([]map[string]string, starts)
	authenticators := make([]*apikey.Authenticator, starts)
	for i := range starts {
		together.Go(func() {
			var err error
			if authenticators[i], made[i], err = apikey.Development(path, callers("editor")); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	key, makers := readKeys(t, path)["editor"], 0
	for i, a := range authenticators {
		if made[i] != nil {
			makers++
		}
		if a == nil {
			continue
		}
		if identity, err := a.Authenticate(authorization("Bearer " + key)); err != nil || identity == nil {
			t.Errorf("start %d does not know the key of the file: %v", i, err)
		}
	}
	if makers != 1 {
		t.Errorf("makers: want 1, got %d", makers)
	}
}
