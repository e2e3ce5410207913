package command_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// keySession is a person at a terminal who cares for the keys of a program, and a
// server of the same keys in another process.
type keySession struct {
	program command.Program
	path    string
	server  *apikey.Authenticator
	shown   map[string]string // the keys that were shown, by the word that stands for them
}

func newKeySession(t *testing.T) *keySession {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	file, err := apikey.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &keySession{program: newKeyedProgram(path), path: path, server: apikey.FromStore(file), shown: map[string]string{}}
}

var anyKey = regexp.MustCompile(`ambit_[0-9A-Za-z]{38}`)

// at runs a command at a terminal on which somebody types. A key in its output is
// remembered, and replaced by a word.
func (s *keySession) at(t *testing.T, typed, word string, args ...string) result {
	t.Helper()
	screen := newTerminal("")
	var stdout bytes.Buffer
	code := s.program.Run(t.Context(), append([]string{"key"}, args...), newTerminal(typed), &stdout, screen)
	if strings.Contains(screen.String(), "ambit_") {
		t.Errorf("%v: the key is on the screen beside the result:\n%s", args, screen.String())
	}
	text := anyKey.ReplaceAllStringFunc(stdout.String(), func(key string) string {
		s.shown[word] = key
		return word
	})
	if kept, err := os.ReadFile(s.path); err == nil && s.shown[word] != "" && strings.Contains(string(kept), s.shown[word]) {
		t.Errorf("%v: the file holds the key itself", args)
	}
	return result{code, text, screen.String()}
}

// caller says whom the server takes the holder of a key for.
func (s *keySession) caller(word string) string {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+s.shown[word])
	identity, err := s.server.Authenticate(r)
	if err != nil {
		return err.Error()
	}
	p := identity.Principal
	return strings.Join([]string{p.Tenant, p.Subject, p.Kind.String(), strings.Join(p.Permissions, ","), strings.Join(p.Roles, ","), strings.Join(p.Scopes, ","), strings.Join(p.Behind, ",")}, "|")
}

// A permission that nothing takes is warned of, and the key is made: misspelled, it
// would give nothing, and no answer would say so.
func TestKeyWithAPermissionThatNothingTakes(t *testing.T) {
	t.Parallel()
	s := newKeySession(t)
	for _, test := range []struct {
		permission string
		want       string
	}{
		{"stock:raed", "warning: no capability takes the permission \"stock:raed\": those that there are take stock:read, stock:write\n"},
		{"stock:read", ""},
		{ambit.DefaultDecidePermission, ""},
		{command.PermissionReadAudit, ""},
		{command.PermissionPruneAudit, ""},
		{command.PermissionAuditTenants, ""},
	} {
		name := "key-" + strings.ReplaceAll(test.permission, ":", "-")
		got := s.at(t, "", "MADE", "create", name, "--permission", test.permission)
		if warning, _, _ := strings.Cut(got.Stderr, "NAME "); got.Code != 0 || got.Stdout != "MADE\n" || warning != test.want {
			t.Errorf("%s: want a key and the warning %q, got %+v", test.permission, test.want, got)
		}
	}
}

// A key from its making to its end, while a server runs.
func TestT12_KeysAtATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // it is 2000-01-01T00:00:00Z
		s := newKeySession(t)
		want := func(want, got result) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
		callers := func(want ...string) {
			t.Helper()
			var got []string
			for _, word := range []string{"FIRST", "SECOND", "THIRD"} {
				if s.shown[word] != "" {
					got = append(got, s.caller(word))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("callers at %s (-want +got):\n%s", time.Now().UTC().Format(time.DateTime), diff)
			}
		}
		const billing = "acme|billing|service|orders:read,orders:write|clerk|a|4:acme/5:login/bob"

		want(result{0, "FIRST\n", "" +
			"warning: no capability takes the permission \"orders:read\": those that there are take stock:read, stock:write\n" +
			"warning: no capability takes the permission \"orders:write\": those that there are take stock:read, stock:write\n" +
			"NAME     STATE  EXPIRES               KIND     SUBJECT  TENANT  PERMISSIONS               ROLES  SCOPES\n" +
			"billing  valid  2000-03-31T00:00:00Z  service  billing  acme    orders:read,orders:write  clerk  a\n"},
			s.at(t, "", "FIRST", "create", "billing", "--kind", "service", "--tenant", "acme", "--permission", "orders:read", "--permission", "orders:write",
				"--role", "clerk", "--owner", "4:acme/5:login/bob", "--scope", "a", "--expires", "90d"))
		callers(billing)
		want(result{5, "", `{"code":"conflict","message":"There is a key \"billing\" already.","hint":"Choose another name: that of a key is never used again."}` + "\n"},
			s.at(t, "", "NONE", "create", "billing"))

		want(result{0, "SECOND\n", "" +
			"NAME       STATE  EXPIRES               KIND     SUBJECT  TENANT  PERMISSIONS               ROLES  SCOPES\n" +
			"billing.2  valid  2000-03-31T00:00:00Z  service  billing  acme    orders:read,orders:write  clerk  a\n"},
			s.at(t, "", "SECOND", "rotate", "billing", "--overlap", "24h"))
		callers(billing, billing)
		time.Sleep(24 * time.Hour)
		callers("the key has expired", billing)
		want(result{5, "", `{"code":"conflict","message":"The key \"billing\" is not valid any more, and nothing may follow it.","hint":"Make a new key."}` + "\n"},
			s.at(t, "", "NONE", "rotate", "billing", "--overlap", "24h"))
		want(result{0, "THIRD\n", "" +
			"NAME       STATE  EXPIRES               KIND     SUBJECT  TENANT  PERMISSIONS               ROLES  SCOPES\n" +
			"billing.3  valid  2000-01-09T00:00:00Z  service  billing  acme    orders:read,orders:write  clerk  a\n"},
			s.at(t, "", "THIRD", "rotate", "billing.2", "--overlap", "2d", "--expires", "7d"))

		want(result{0, "" +
			"NAME       STATE  EXPIRES               KIND     SUBJECT  TENANT  PERMISSIONS               ROLES  SCOPES\n" +
			"billing.2  valid  2000-01-02T01:00:00Z  service  billing  acme    orders:read,orders:write  clerk  a\n", ""},
			s.at(t, "", "NONE", "expire", "billing.2", "--in", "1h"))
		want(result{5, "", `{"code":"conflict","message":"The key \"billing.2\" ends earlier already, and the end of a key is not put off.","hint":"Rotate a key that is to go on."}` + "\n"},
			s.at(t, "", "NONE", "expire", "billing.2", "--in", "2h"))
		callers("the key has expired", billing, billing)
		time.Sleep(time.Hour)
		callers("the key has expired", "the key has expired", billing)

		const third = "" +
			"NAME       STATE  EXPIRES               KIND     SUBJECT  TENANT  PERMISSIONS               ROLES  SCOPES\n" +
			"billing.3  valid  2000-01-09T00:00:00Z  service  billing  acme    orders:read,orders:write  clerk  a\n"
		want(result{5, "", third + "Revoke this key? [y]es / [n]o: " +
			`{"code":"declined","message":"The person who was asked said no.","hint":"The key stays as it is."}` + "\n"},
			s.at(t, "n\n", "NONE", "revoke", "billing.3"))
		callers("the key has expired", "the key has expired", billing)
		want(result{0, strings.NewReplacer("STATE  ", "STATE    ", "valid", "revoked").Replace(third), third + "Revoke this key? [y]es / [n]o: "},
			s.at(t, "y\n", "NONE", "revoke", "billing.3"))
		time.Sleep(ambit.Freshness)
		callers("the key has expired", "the key has expired", "the key was revoked")

		// Once more changes nothing, so nobody is asked.
		want(result{0, "", strings.NewReplacer("STATE  ", "STATE    ", "valid", "revoked").Replace(third)}, s.at(t, "", "NONE", "revoke", "billing.3"))
		for _, args := range [][]string{{"revoke", "nobody"}, {"expire", "nobody", "--in", "1h"}, {"rotate", "nobody", "--overlap", "1h"}} {
			want(result{4, "", `{"code":"not_found","message":"There is no key \"nobody\".","hint":"The command \"key list\" shows those that there are."}` + "\n"},
				s.at(t, "", "NONE", args...))
		}
	})
}

// What a key is replaced by is called so that it is told from all before it, and
// what lasted as long as nobody knows needs an end.
func TestRotatedKeys(t *testing.T) {
	t.Parallel()
	s := newKeySession(t)
	entry := func(name, more string) string {
		return `{"name":"` + name + `","hash":"` + apikey.Hash(name) + `"` + more + `}`
	}
	text := `{"keys":[` + strings.Join([]string{
		entry("a", ""), entry("a.2", ""), entry("a.3", ""), entry("v1.0", ""), entry("x.1", `,"scopes":[]`), entry("until", `,"expires":"2999-01-01T00:00:00Z"`),
	}, ",") + `]}`
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string]string{"a": "a.4", "v1.0": "v1.0.2", "x.1": "x.1.2"} {
		got := s.at(t, "", "NEW", "rotate", old, "--overlap", "1h")
		if got.Code != 0 || !strings.Contains(got.Stderr, "\n"+want+" ") || !strings.Contains(got.Stderr, " "+old+" ") {
			t.Errorf("%s: want the new key %s of the same subject, got %+v", old, want, got)
		}
	}
	if got := s.at(t, "", "NONE", "rotate", "until", "--overlap", "1h"); got.Code != 2 || !strings.Contains(got.Stderr, "--expires TIME") {
		t.Errorf("until: want that its end is missing, got %+v", got)
	}
}

// Who stands behind a key is said by the name of their own or by the key of their
// principal, and has to be somebody.
func TestOwnersOfKeys(t *testing.T) {
	t.Parallel()
	s := newKeySession(t)
	for _, args := range [][]string{
		{"create", "clerk", "--tenant", "acme", "--owner", "4:acme/5:login/bob"},
		{"create", "another", "--tenant", "acme", "--subject", "clerk"},
		{"create", "spare", "--tenant", "acme", "--subject", "clerk"},
	} {
		if got := s.at(t, "", "NONE", args...); got.Code != 0 {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	for _, test := range []struct{ name, owner, behind, said string }{
		{"by name", "clerk", "4:acme/5:login/bob,4:acme/6:apikey/clerk", ""},
		{"by a name that is not the subject", "spare", "4:acme/6:apikey/clerk", ""},
		{"by key", "4:acme/6:apikey/clerk", "4:acme/5:login/bob,4:acme/6:apikey/clerk", ""},
		{"of another authority", "0:/5:login/eve", "0:/5:login/eve", ""},
		{"no such name", "clrek", "", "neither the name of an API key here nor the key of a principal such as 0:/5:login/bob, which whoami writes"},
		{"nobody holds it", "0:/6:apikey/clrek", "", "none of those that \\\"key list\\\" shows is theirs"},
	} {
		got := s.at(t, "", "ROBOT", "create", "robot "+test.name, "--kind", "agent", "--owner", test.owner)
		if test.said != "" {
			if got.Code != 2 || !strings.Contains(got.Stderr, test.said) {
				t.Errorf("%s: want it refused with %q, got %+v", test.name, test.said, got)
			}
			continue
		}
		if diff := cmp.Diff("|robot "+test.name+"|agent||||"+test.behind, s.caller("ROBOT")); diff != "" {
			t.Errorf("%s: caller (-want +got):\n%s", test.name, diff)
		}
	}
	if got := run(t.Context(), newStockProgram(), "key", "create", "robot", "--owner", "clerk"); got.Code != 2 || !strings.Contains(got.Stderr, "which whoami writes") {
		t.Errorf("without a store: want the name refused, got %+v", got)
	}
	if got := run(t.Context(), newStockProgram(), "key", "create", "robot", "--owner", "0:/6:apikey/clerk"); got.Code != 0 || !strings.Contains(got.Stdout, `"behind":["0:/6:apikey/clerk"]`) {
		t.Errorf("without a store: want the key of a principal taken, got %+v", got)
	}
}

// goneKeys is a store of keys that cannot be read.
type goneKeys struct{ apikey.Store }

func (goneKeys) List(context.Context, string, int) ([]apikey.Record, error) {
	return nil, errors.New("the disk is gone")
}

// That owners cannot be looked up is no mistake of whoever names them.
func TestOwnersThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	app := ambit.New(ambit.Options{Name: "stock", Logger: slog.New(slog.DiscardHandler)})
	code := command.Run(t.Context(), app, command.Options{Keys: goneKeys{}}, []string{"key", "create", "robot", "--owner", "clerk"}, newTerminal(""), &stdout, &stderr)
	if code == 0 || code == 2 || strings.Contains(stderr.String(), "Usage") || stdout.Len() > 0 {
		t.Errorf("want it refused for another reason than its usage, got exit code %d, %s", code, stderr.String())
	}
}

// A key of a program without a store comes with its entry for a file.
func TestKeyWithoutAStore(t *testing.T) {
	t.Parallel()
	got := run(t.Context(), newStockProgram(), "key", "create", "bill\u202eing")
	if got.Code != 0 || got.Stderr != "" {
		t.Fatalf("want exit code 0 and no error, got %+v", got)
	}
	key, entry, _ := strings.Cut(got.Stdout, "\n")
	if strings.Contains(entry, "\u202e") || strings.Contains(entry, key) || strings.Count(entry, "\n") != 1 {
		t.Errorf("entry: want one visible line without the key, got %q", entry)
	}
	s := newKeySession(t)
	if err := os.WriteFile(s.path, []byte(`{"keys": [`+entry+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.shown["KEY"] = key
	if diff := cmp.Diff("|bill\u202eing|user||||", s.caller("KEY")); diff != "" {
		t.Errorf("caller (-want +got):\n%s", diff)
	}
}
