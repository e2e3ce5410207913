package apikey_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// openFile opens a file of records.
func openFile(t *testing.T, path string) *apikey.File {
	t.Helper()
	file, err := apikey.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFileOfAllMembers(t *testing.T) {
	t.Parallel()
	key, old, gone := apikey.Generate(), apikey.Generate(), apikey.Generate()
	path := write(t, fmt.Sprintf(`{"keys": [
		{"name": "billing", "hash": %q, "kind": "service", "subject": "bills", "tenant": "acme", "client": "c", "permissions": ["orders:read"],
		 "roles": ["r"], "scopes": ["s"], "behind": ["4:acme/5:login/bob"], "created": "2025-01-01T00:00:00Z", "expires": "2999-01-01T00:00:00Z", "replaces": "old"},
		{"name": "old", "hash": %q, "expires": "2020-01-01T00:00:00Z"},
		{"name": "gone", "hash": %q, "revoked": "2999-01-01T00:00:00Z"}
	]}`, strings.ToUpper(apikey.Hash(key)), apikey.Hash(old), apikey.Hash(gone)), 0o644)
	a := apikey.FromStore(openFile(t, path))
	identity, err := a.Authenticate(authorization("Bearer " + key))
	if err != nil {
		t.Fatal(err)
	}
	want := &ambit.Principal{
		Authority: "apikey", Subject: "bills", Kind: ambit.KindService, Tenant: "acme", Client: "c",
		Permissions: []string{"orders:read"}, Roles: []string{"r"}, Scopes: []string{"s"}, Behind: []string{"4:acme/5:login/bob"}, Claims: of("billing"), Expires: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, identity.Principal); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
	for name, ended := range map[string]string{"expired": old, "revoked": gone} {
		if identity, err := a.Authenticate(authorization("Bearer " + ended)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a key that is %s: want an error that says so, got %v, %v", name, identity, err)
		}
	}
}

func TestOpenFileRefuses(t *testing.T) {
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
		{
			"two of one name, and a name too long", `{"keys":[{"name":"a","hash":"` + apikey.Hash(key) + `"},{"name":"a","hash":"` + apikey.Hash("x") + `"},{"name":"` + strings.Repeat("b", 201) + `","hash":"` + apikey.Hash("y") + `"}]}`,
			"apikey: PATH: key \"a\": another key has this name\napikey: PATH: key \"" + strings.Repeat("b", 201) + "\": its name is longer than 200 bytes or no text", 0o600,
		},
		{"one hash in two cases", `{"keys":[{"name":"a","hash":"` + apikey.Hash(key) + `"},{"name":"b","hash":"` + strings.ToUpper(apikey.Hash(key)) + `"}]}`, `apikey: PATH: key "b": another key is the same`, 0o600},
		{"nobody behind it", entry(`"behind":["bob"]`), `apikey: PATH: key "a": "bob" stands behind it, which is no key of a principal, LEN:TENANT/LEN:AUTHORITY/SUBJECT`, 0o600},
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
			_, err := apikey.OpenFile(path)
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(fmt.Sprint(err), path, "PATH")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// Where no file is yet, nobody comes in, and the first key makes it.
func TestT09_FileIsMadeForItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	file := openFile(t, path)
	a := apikey.FromStore(file)
	if got := a.Notices(); len(got) != 1 || !strings.Contains(got[0], "no API keys") {
		t.Errorf("notices: want that there are no keys, got %q", got)
	}
	key := apikey.Generate()
	if err := file.Add(t.Context(), apikey.Record{Name: "a", Hash: apikey.Hash(key)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("rights: want 0600, got %#o", got)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), key[6:20]) || !json.Valid(text) {
		t.Errorf("file: want JSON without the key, got %s, %v", text, err)
	}
	if identity, err := a.Authenticate(authorization("Bearer " + key)); err != nil || identity == nil {
		t.Errorf("the key: want its caller, got %v, %v", identity, err)
	}
	if got := a.Notices(); got != nil {
		t.Errorf("notices: want none, got %q", got)
	}
}

// A file that its operator lets others read stays readable for them: the server
// may run as one of them.
func TestFileKeepsItsRights(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such rights")
	}
	path := write(t, `{"keys":[]}`, 0o640)
	if err := openFile(t, path).Add(t.Context(), apikey.Record{Name: "a", Hash: apikey.Hash("a")}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("rights: want 0640, got %v, %v", info.Mode(), err)
	}
}

// What is changed by hand is seen, and what cannot be read is not taken for an
// empty file.
func TestT03_FileIsReadAgain(t *testing.T) {
	t.Parallel()
	entry := func(name string) string { return `{"name":"` + name + `","hash":"` + apikey.Hash(name) + `"}` }
	path := write(t, `{"keys":[`+entry("a")+`]}`, 0o600)
	file := openFile(t, path)
	for _, step := range []struct {
		name   string
		change func() error
		want   string
	}{
		{"nothing", func() error { return nil }, "a"},
		{"written in place, of one length", func() error { return os.WriteFile(path, []byte(`{"keys":[`+entry("b")+`]}`), 0o600) }, "b"},
		{"broken", func() error { return os.WriteFile(path, []byte(`{"keys":[`), 0o600) }, "error"},
		{"mended", func() error { return os.WriteFile(path, []byte(`{"keys":[`+entry("c")+`]}`), 0o600) }, "c"},
		{"gone", func() error { return os.Remove(path) }, "error"},
		{"back", func() error { return os.WriteFile(path, []byte(`{"keys":[`+entry("d")+`]}`), 0o600) }, "d"},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		got := "error"
		if list, err := file.List(t.Context(), "", 10); err == nil {
			got = ""
			for _, r := range list {
				got += r.Name
			}
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// A file that somebody has written in place and given its old time back, as some
// programs that copy do, is read again.
func TestT03_FileWithItsOldTimeIsReadAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not tell when a file was changed")
	}
	text := func(year string) string {
		return `{"keys":[{"name":"a","hash":"` + apikey.Hash("a") + `","expires":"` + year + `-01-01T00:00:00Z"}]}`
	}
	path := write(t, text("2999"), 0o600)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	file := openFile(t, path)
	if err := os.WriteFile(path, []byte(text("2020")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if r, _, err := file.ByName(t.Context(), "a"); err != nil || r.Expires.Year() != 2020 {
		t.Errorf("want that it expires in 2020, got %v, %v", r.Expires, err)
	}
}

// Who changes keys by a link changes the file behind it, so that a program that
// has the file by its own name sees that too.
func TestT03_KeyRevokedThroughALink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	target, link := filepath.Join(folder, "volume", "keys.json"), filepath.Join(folder, "keys.json")
	if err := os.Mkdir(filepath.Dir(target), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("volume", "keys.json"), link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if _, err := apikey.OpenFile(link); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link to nothing: want an error that says so, got %v", err)
	}
	server := openFile(t, target)
	for _, name := range []string{"ci", "web"} {
		if err := server.Add(t.Context(), apikey.Record{Name: name, Hash: apikey.Hash(name)}); err != nil {
			t.Fatal(err)
		}
	}
	operator := openFile(t, link)
	if err := operator.Revoke(t.Context(), "ci", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := server.Revoke(t.Context(), "web", time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []*apikey.File{server, operator} {
		for _, name := range []string{"ci", "web"} {
			if r, _, err := file.ByName(t.Context(), name); err != nil || r.Revoked.IsZero() {
				t.Errorf("%s: want it revoked, got %+v, %v", name, r, err)
			}
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link: want it as it was, got %v, %v", info.Mode(), err)
	}
}

// Two names of one file have one lock, so that no change is lost.
func TestLinksHaveOneLock(t *testing.T) {
	t.Parallel()
	path := write(t, `{"keys":[]}`, 0o600)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	files := []*apikey.File{openFile(t, path), openFile(t, link)}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			name := fmt.Sprint("key-", i)
			if err := files[i%2].Add(context.Background(), apikey.Record{Name: name, Hash: apikey.Hash(name)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := files[0].List(t.Context(), "", 100); err != nil || len(list) != 20 {
		t.Errorf("want 20 keys, got %d, %v", len(list), err)
	}
}

// Whoever changes a file that does not hold together would write a part of it
// back and lose the rest.
func TestBrokenFileIsNotChanged(t *testing.T) {
	t.Parallel()
	path := write(t, `{"keys":[]}`, 0o600)
	file := openFile(t, path)
	const broken = `{"keys":[],"more":1}`
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := file.Add(t.Context(), apikey.Record{Name: "a", Hash: apikey.Hash("a")}); err == nil || !strings.Contains(err.Error(), "/more") {
		t.Errorf("want an error that says where, got %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != broken {
		t.Errorf("file: want it as it was, got %s, %v", text, err)
	}
	if _, err := os.Stat(path + ".new"); !os.IsNotExist(err) {
		t.Errorf("the lock: want it gone, got %v", err)
	}
}

func TestFileUnderALock(t *testing.T) {
	t.Parallel()
	path := write(t, `{"keys":[]}`, 0o600)
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := openFile(t, path).Add(ctx, apikey.Record{Name: "a", Hash: apikey.Hash("a")})
	if err == nil || !strings.Contains(err.Error(), path+".new is there") {
		t.Errorf("want an error that names the lock, got %v", err)
	}
}

// An empty list of scopes is a list: such a key may not do what takes a scope.
func TestT06_FileKeepsAnEmptyListOfScopes(t *testing.T) {
	t.Parallel()
	path := write(t, fmt.Sprintf(`{"keys":[{"name":"limited","hash":%q,"scopes":[]},{"name":"unlimited","hash":%q}]}`,
		apikey.Hash("limited"), apikey.Hash("unlimited")), 0o600)
	a := apikey.FromStore(openFile(t, path))
	for name, want := range map[string]*ambit.Principal{
		"limited":   {Authority: "apikey", Subject: "limited", Scopes: []string{}, Claims: of("limited")},
		"unlimited": {Authority: "apikey", Subject: "unlimited", Unscoped: true, Claims: of("unlimited")},
	} {
		got, err := a.Principal(t.Context(), name)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
