package apikey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// write makes a file with the rights, whatever the umask.
func write(t *testing.T, text string, rights os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, rights); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	key, old := apikey.Generate(), apikey.Generate()
	path := write(t, fmt.Sprintf(`{"keys": [
		{"name": "billing", "hash": %q, "kind": "service", "subject": "bills", "tenant": "acme", "permissions": ["orders:read"], "roles": ["r"], "scopes": ["s"]},
		{"name": "old", "hash": %q, "expires": "2020-01-01T00:00:00Z"}
	]}`, apikey.Hash(key), apikey.Hash(old)), 0o644)
	a, err := apikey.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := a.Authenticate(authorization("Bearer " + key))
	if err != nil {
		t.Fatal(err)
	}
	want := &ambit.Principal{
		Authority: "apikey", Subject: "bills", Kind: ambit.KindService, Tenant: "acme",
		Permissions: []string{"orders:read"}, Roles: []string{"r"}, Scopes: []string{"s"},
	}
	if diff := cmp.Diff(want, identity.Principal); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
	if _, err := a.Authenticate(authorization("Bearer " + old)); err == nil {
		t.Error("an expired key: want an error, got none")
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	entry := func(members string) string {
		return `{"keys":[{"name":"a","hash":"` + apikey.Hash(key) + `",` + members + `}]}`
	}
	tests := []struct {
		name, text, want string
		rights           os.FileMode
	}{
		{"empty", "\n", `apikey: PATH: is empty: a file without keys is {"keys": []}`, 0o600},
		{"not JSON", `keys`, "apikey: PATH: the text: expected a JSON value, at byte 0", 0o600},
		{"trailing data", `{"keys":[]} {}`, "apikey: PATH: the text: unexpected data after the value, at byte 12", 0o600},
		{"no keys", `{}`, "apikey: PATH: /keys: is required; add it", 0o600},
		{"an unknown member", entry(`"role":["r"]`), `apikey: PATH: /keys/0/role: the key is not known here; did you mean "roles"?`, 0o600},
		{"a member that is no list", entry(`"roles":"r"`), "apikey: PATH: /keys/0/roles: must be an array, not a string", 0o600},
		{"a date", entry(`"expires":"2030-01-01"`), `apikey: PATH: /keys/0/expires: must be a time as in RFC 3339, such as "2006-01-02T15:04:05Z", not "2030-01-01"`, 0o600},
		{"a duplicate member", `{"keys":[],"keys":[]}`, "apikey: PATH: /keys: the key occurs more than once; send it once", 0o600},
		{"an unknown kind", entry(`"kind":"anonymous"`), `apikey: PATH: /keys/0/kind: must be one of the allowed values, not "anonymous" (allowed: [user service agent])`, 0o600},
		{"no name and no hash", `{"keys":[{}]}`, "apikey: PATH: /keys/0/name: is required; add it\napikey: PATH: /keys/0/hash: is required; add it", 0o600},
		{"an empty hash", `{"keys":[{"name":"a","hash":""}]}`, `apikey: PATH: key "a": has no hash: make one with apikey.Hash`, 0o600},
		{"a key for a hash", `{"keys":[{"name":"a","hash":"` + key + `"}]}`, `apikey: PATH: key "a": its hash is a key, not the hash of one: make the hash with apikey.Hash, and keep the key out of files`, 0o600},
		{"a key for a list", `{"keys":[{"name":"a","hash":["` + key + `"]}]}`, "apikey: PATH: /keys/0/hash: must be a string, not an array", 0o600},
		{"others may write", `{"keys":[]}`, "apikey: PATH: has the rights 0622, and nobody but its owner may write to it: chmod 600 it", 0o622},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && tt.rights != 0o600 {
				t.Skip("Windows has no such rights")
			}
			path := write(t, tt.text, tt.rights)
			_, err := apikey.Load(path)
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(fmt.Sprint(err), path, "PATH")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none")
	_, err := apikey.Load(path)
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), path) != 1 || !strings.Contains(err.Error(), "the command key") {
		t.Errorf("no file: want an error that names it once and says what makes one, got %v", err)
	}
	if _, err := apikey.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: want an error that says so, got %v", err)
	}
}

// An empty list of scopes is a list: such a key may not do what takes a scope.
func TestT06_LoadKeepsAnEmptyListOfScopes(t *testing.T) {
	t.Parallel()
	limited, unlimited := apikey.Generate(), apikey.Generate()
	a, err := apikey.Load(write(t, fmt.Sprintf(`{"keys":[{"name":"limited","hash":%q,"scopes":[]},{"name":"unlimited","hash":%q}]}`,
		apikey.Hash(limited), apikey.Hash(unlimited)), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*ambit.Principal{
		"limited":   {Authority: "apikey", Subject: "limited", Scopes: []string{}},
		"unlimited": {Authority: "apikey", Subject: "unlimited", Unscoped: true},
	} {
		got, _ := a.Principal(name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

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
	want := &ambit.Principal{Authority: "apikey", Subject: "reader", Permissions: []string{"notes:reader"}, Unscoped: true}
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

func TestLoadReadsTimes(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	text := fmt.Sprintf(`{"keys":[{"name":"a","hash":%q,"expires":%q}]}`, apikey.Hash(key), time.Now().Add(time.Hour).Format(time.RFC3339))
	a, err := apikey.Load(write(t, text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if identity, err := a.Authenticate(authorization("Bearer " + key)); err != nil || identity == nil {
		t.Errorf("a key that expires later: want an identity, got %v, %v", identity, err)
	}
}
