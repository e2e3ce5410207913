package apikey_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// stamp is a time without what a store need not keep.
func stamp(hours int) time.Time {
	return time.Now().Add(time.Duration(hours) * time.Hour).UTC().Truncate(time.Second)
}

func record(name string) apikey.Record {
	return apikey.Record{
		Name: name, Hash: apikey.Hash(name), Subject: "subject <of> " + name, Kind: "agent", Tenant: "acme", Client: "client",
		Permissions: []string{"notes:read"}, Roles: []string{"r"}, Scopes: []string{}, Behind: []string{"4:acme/5:login/bob"}, Created: stamp(-1), Expires: stamp(100),
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	file := openFile(t, filepath.Join(t.TempDir(), "keys.json"))
	other := openFile(t, filepath.Join(t.TempDir(), "keys.json")) // of nothing
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, want apikey.Record) {
		t.Helper()
		for by, find := range map[string]func() (apikey.Record, bool, error){
			"name": func() (apikey.Record, bool, error) { return file.ByName(ctx, want.Name) },
			"hash": func() (apikey.Record, bool, error) { return file.ByHash(ctx, want.Hash) },
		} {
			got, found, err := find()
			if diff := cmp.Diff(want, got); diff != "" || !found || err != nil {
				t.Errorf("%s, by %s: found %v, error %v (-want +got):\n%s", what, by, found, err, diff)
			}
		}
	}
	b, a := record("b"), record("a")
	unscoped := apikey.Record{Name: "unscoped", Hash: apikey.Hash("unscoped")}
	for _, r := range []apikey.Record{b, a, unscoped} {
		must(file.Add(ctx, r))
		want("added", r)
	}
	if _, found, err := other.ByName(ctx, "a"); found || err != nil {
		t.Errorf("in another file: want nothing, got %v, %v", found, err)
	}

	// The end of a key comes nearer and is never put off.
	must(file.Expire(ctx, "a", stamp(200)))
	want("expiry put off", a)
	a.Expires = stamp(2)
	must(file.Expire(ctx, "a", a.Expires))
	want("expiry brought nearer", a)
	unscoped.Expires = stamp(3)
	must(file.Expire(ctx, "unscoped", unscoped.Expires))
	want("expiry of what had none", unscoped)

	next := record("b.2")
	next.Replaces = "b"
	b.Expires = stamp(24)
	must(file.Replace(ctx, next, b.Expires))
	want("replaced", b)
	want("what replaces it", next)

	a.Revoked = stamp(0)
	must(file.Revoke(ctx, "a", a.Revoked))
	must(file.Revoke(ctx, "a", stamp(5)))
	want("revoked", a)

	// What fails changes nothing.
	fails := record("c")
	fails.Replaces = "a"
	sameHash := record("d")
	sameHash.Hash = b.Hash
	unnamed := record("")
	follows := func(r apikey.Record, old string) apikey.Record { r.Replaces = old; return r }
	for _, test := range []struct {
		name string
		got  error
		want error
	}{
		{"a name that is taken", file.Add(ctx, record("b")), apikey.ErrExists},
		{"a hash that is taken", file.Add(ctx, sameHash), apikey.ErrExists},
		{"a replacement whose name is taken", file.Replace(ctx, follows(record("b"), "unscoped"), stamp(1)), apikey.ErrExists},
		{"a replacement of nothing", file.Replace(ctx, follows(record("e"), "nothing"), stamp(1)), apikey.ErrUnknown},
		{"a replacement of what is revoked", file.Replace(ctx, fails, stamp(1)), apikey.ErrEnded},
		{"expiry of nothing", file.Expire(ctx, "nothing", stamp(1)), apikey.ErrUnknown},
		{"revocation of nothing", file.Revoke(ctx, "nothing", stamp(1)), apikey.ErrUnknown},
	} {
		if !errors.Is(test.got, test.want) {
			t.Errorf("%s: want %v, got %v", test.name, test.want, test.got)
		}
	}
	if err := file.Add(ctx, unnamed); err == nil {
		t.Error("a record without a name: want an error, got none")
	}

	var all []apikey.Record
	for after, pages := "", 0; ; pages++ {
		page, err := file.List(ctx, after, 2)
		must(err)
		if all = append(all, page...); len(page) < 2 || pages > 4 {
			break
		}
		after = page[len(page)-1].Name
	}
	if diff := cmp.Diff([]apikey.Record{a, b, next, unscoped}, all); diff != "" {
		t.Errorf("all records, by pages of two (-want +got):\n%s", diff)
	}
	all[0].Permissions[0] = "admin"
	want("after what was returned was changed", a)
}

// Keys that are added at once, by as many processes, are all there in the end.
func TestStoreAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	const many = 8
	var together sync.WaitGroup
	for i := range many {
		file := openFile(t, path)
		together.Go(func() {
			if err := file.Add(context.Background(), record(fmt.Sprintf("key%d", i))); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if list, err := openFile(t, path).List(t.Context(), "", 100); err != nil || len(list) != many {
		t.Errorf("want %d keys, got %d, %v", many, len(list), err)
	}
}
