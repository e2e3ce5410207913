package audit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// Whoever follows sees the newest entries and then each that is added, by
// whatever writer, once and in the order of its chain.
func TestFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memoryStore()
		first, second := newLog(t, store), newLog(t, store)
		one := func(log *audit.Log, name string) {
			e := eventOf(ambit.Execute)
			e.Capability = name
			if err := call(t.Context(), log, e, ambit.Digest{}, `{}`, succeed); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"a", "b", "c"} {
			one(first, name)
			time.Sleep(time.Millisecond)
		}
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		ended := make(chan error)
		go func() {
			ended <- second.Follow(ctx, audit.Query{Tenant: "acme", Kind: "outcome"}, 2, func(e audit.Entry) error {
				got = append(got, e.Capability)
				return nil
			})
		}()
		synctest.Wait()
		for _, name := range []string{"d", "e"} {
			one(second, name)
			time.Sleep(time.Millisecond)
			one(first, name+"1")
			time.Sleep(2 * time.Second)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("want the end of the context, got %v", err)
		}
		if diff := cmp.Diff([]string{"b", "c", "d", "d1", "e", "e1"}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// What the caller says ends it.
func TestFollowEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	if err := log.Follow(t.Context(), audit.Query{Tenant: "acme"}, 1, func(audit.Entry) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("want %v, got %v", enough, err)
	}
}
