package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/apikey"
)

func key(name string) apikey.Record {
	return apikey.Record{Name: name, Hash: apikey.Hash(name)}
}

// keyTests are about API keys.
func keyTests() []test {
	at := func(hours int) time.Time {
		return time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(hours) * time.Hour)
	}
	return []test{
		{"a record comes back as it was added, by name and by hash", func(t *testing.T, b bench) {
			full := apikey.Record{
				Name: "billing é", Hash: apikey.Hash("full"), Subject: "billing", Kind: "service", Tenant: "acme", Client: "cron",
				Permissions: []string{"a", "b"}, Roles: []string{"r"}, Scopes: []string{"s"}, Behind: []string{"4:acme/5:login/ann"}, Created: at(0), Expires: at(1), Revoked: at(2),
			}
			empty := key("empty lists")
			empty.Permissions, empty.Roles, empty.Scopes, empty.Behind = []string{}, []string{}, []string{}, []string{}
			for _, want := range []apikey.Record{full, empty, key("plain")} {
				if err := b.Keys.Add(t.Context(), want); err != nil {
					t.Fatalf("Add: %v", err)
				}
				for by, look := range map[string]func() (apikey.Record, bool, error){
					"hash": func() (apikey.Record, bool, error) { return b.Keys.ByHash(t.Context(), want.Hash) },
					"name": func() (apikey.Record, bool, error) { return b.Keys.ByName(t.Context(), want.Name) },
				} {
					got, ok, err := look()
					if diff := cmp.Diff(want, got); err != nil || !ok || diff != "" {
						t.Errorf("%s by %s: found %t, error %v (-want +got):\n%s", want.Name, by, ok, err, diff)
					}
				}
			}
			if _, ok, err := b.Keys.ByHash(t.Context(), apikey.Hash("nobody")); ok || err != nil {
				t.Errorf("ByHash of nobody's: found %t, error %v", ok, err)
			}
			if _, ok, err := b.Keys.ByName(t.Context(), "nobody"); ok || err != nil {
				t.Errorf("ByName of nobody's: found %t, error %v", ok, err)
			}
		}},
		{"names and hashes are there once, and records are checked", func(t *testing.T, b bench) {
			if err := b.Keys.Add(t.Context(), key("one")); err != nil {
				t.Fatal(err)
			}
			sameName, sameHash := key("one"), key("two")
			sameName.Hash, sameHash.Hash = apikey.Hash("other"), key("one").Hash
			for _, r := range []apikey.Record{key("one"), sameName, sameHash} {
				if err := b.Keys.Add(t.Context(), r); !errors.Is(err, apikey.ErrExists) {
					t.Errorf("Add of %s: want ErrExists, got %v", r.Name, err)
				}
			}
			if err := b.Keys.Add(t.Context(), apikey.Record{Name: "no hash"}); err == nil || errors.Is(err, apikey.ErrExists) {
				t.Errorf("Add of a record without a hash: want an error of its own, got %v", err)
			}
			added := 0
			for _, err := range together(32, func(int) error { return b.Keys.Add(t.Context(), key("race")) }) {
				added += count(err == nil)
			}
			if added != 1 {
				t.Errorf("of 32 who add one key, want one, got %d", added)
			}
		}},
		{"a list goes by the bytes of the names", func(t *testing.T, b bench) {
			for _, name := range []string{"b", "a", "é", "Z", "a b", "aa"} {
				if err := b.Keys.Add(t.Context(), key(name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, test := range []struct {
				after string
				limit int
				want  []string
			}{
				{"", 100, []string{"Z", "a", "a b", "aa", "b", "é"}},
				{"", 2, []string{"Z", "a"}},
				{"a", 2, []string{"a b", "aa"}},
				{"ab", 2, []string{"b", "é"}},
				{"é", 2, nil},
				{"", 0, nil},
			} {
				records, err := b.Keys.List(t.Context(), test.after, test.limit)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, r := range records {
					got = append(got, r.Name)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%d after %q (-want +got):\n%s", test.limit, test.after, diff)
				}
			}
		}},
		{"a key ends, and its end is never put off", func(t *testing.T, b bench) {
			if err := b.Keys.Add(t.Context(), key("one")); err != nil {
				t.Fatal(err)
			}
			want := key("one")
			step := func(name string, err error) {
				t.Helper()
				got, _, lookUp := b.Keys.ByName(t.Context(), "one")
				if diff := cmp.Diff(want, got); err != nil || lookUp != nil || diff != "" {
					t.Errorf("%s: error %v, %v (-want +got):\n%s", name, err, lookUp, diff)
				}
			}
			want.Expires = at(5)
			step("expire", b.Keys.Expire(t.Context(), "one", at(5)))
			step("expire later", b.Keys.Expire(t.Context(), "one", at(6)))
			want.Expires = at(4)
			step("expire earlier", b.Keys.Expire(t.Context(), "one", at(4)))
			want.Revoked = at(1)
			step("revoke", b.Keys.Revoke(t.Context(), "one", at(1)))
			step("revoke again", b.Keys.Revoke(t.Context(), "one", at(0)))
			for name, err := range map[string]error{
				"Expire":  b.Keys.Expire(t.Context(), "nobody", at(0)),
				"Revoke":  b.Keys.Revoke(t.Context(), "nobody", at(0)),
				"Replace": b.Keys.Replace(t.Context(), apikey.Record{Name: "new", Hash: apikey.Hash("new"), Replaces: "nobody"}, at(0)),
			} {
				if !errors.Is(err, apikey.ErrUnknown) {
					t.Errorf("%s of nobody's key: want ErrUnknown, got %v", name, err)
				}
			}
		}},
		{"a key is replaced as a whole or not", func(t *testing.T, b bench) {
			for _, name := range []string{"one", "ended", "late"} {
				if err := b.Keys.Add(t.Context(), key(name)); err != nil {
					t.Fatal(err)
				}
			}
			next := func(name, of string) apikey.Record {
				r := key(name)
				r.Replaces = of
				return r
			}
			if err := b.Keys.Replace(t.Context(), next("two", "one"), at(1)); err != nil {
				t.Fatalf("Replace: %v", err)
			}
			old := key("one")
			old.Expires = at(1)
			for _, want := range []apikey.Record{old, next("two", "one")} {
				got, _, err := b.Keys.ByName(t.Context(), want.Name)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v (-want +got):\n%s", err, diff)
				}
			}
			if err := b.Keys.Replace(t.Context(), next("ended", "two"), at(2)); !errors.Is(err, apikey.ErrExists) {
				t.Errorf("Replace by a name that is taken: want ErrExists, got %v", err)
			}
			if got, _, _ := b.Keys.ByName(t.Context(), "two"); !got.Expires.IsZero() {
				t.Errorf("the key that was not replaced expires at %s", got.Expires)
			}
			if err := b.Keys.Revoke(t.Context(), "ended", at(0)); err != nil {
				t.Fatal(err)
			}
			if err := b.Keys.Expire(t.Context(), "late", time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			b.Advance(2 * time.Hour)
			for _, of := range []string{"ended", "late"} {
				if err := b.Keys.Replace(t.Context(), next(fmt.Sprint("after ", of), of), at(1)); !errors.Is(err, apikey.ErrEnded) {
					t.Errorf("Replace of %s: want ErrEnded, got %v", of, err)
				}
			}
		}},
	}
}
