package apikey_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// fakeStore holds records by name, counts look-ups by hash, and fails when told.
type fakeStore struct {
	apikey.Store // what the authenticator does not use

	mu      sync.Mutex
	records map[string]apikey.Record
	asked   int
	err     error
	hold    chan struct{} // where not nil: look-ups wait for it or their context
	panics  bool
}

func newFakeStore(records ...apikey.Record) *fakeStore {
	s := &fakeStore{records: map[string]apikey.Record{}}
	for _, r := range records {
		s.records[r.Name] = r
	}
	return s
}

func (s *fakeStore) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *fakeStore) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *fakeStore) ByHash(ctx context.Context, hash string) (apikey.Record, bool, error) {
	s.mu.Lock()
	s.asked++
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return apikey.Record{}, false, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics {
		panic("out of order")
	}
	for _, r := range s.records {
		if r.Hash == hash && s.err == nil {
			return r, true, nil
		}
	}
	return apikey.Record{}, false, s.err
}

func (s *fakeStore) ByName(_ context.Context, name string) (apikey.Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[name]
	return r, ok && s.err == nil, s.err
}

func (s *fakeStore) List(_ context.Context, _ string, limit int) (list []apikey.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		if len(list) < limit {
			list = append(list, r)
		}
	}
	return list, s.err
}

// outcome says in a word or two what became of a request.
func outcome(a *apikey.Authenticator, r *http.Request) string {
	identity, err := a.Authenticate(r)
	switch code := ambit.CodeOf(err); {
	case err == nil && identity == nil:
		return "nobody"
	case err == nil:
		return identity.Principal.Subject
	case code == ambit.CodeUnavailable:
		return "unavailable"
	}
	for _, word := range []string{"revoked", "expired", "not known", "not well formed", "kind"} {
		if strings.Contains(err.Error(), word) {
			return word
		}
	}
	return err.Error()
}

func stored(name, key string) apikey.Record { return apikey.Record{Name: name, Hash: apikey.Hash(key)} }

func bearer(key string) *http.Request { return authorization("Bearer " + key) }

// A key that was let in a moment ago is not let in for long after it was revoked,
// has expired or is gone, and one that takes its place is let in at once.
func TestT03_KeyStops(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*apikey.Record) (keep bool)
		want   string
	}{
		"revoked":             {func(r *apikey.Record) bool { r.Revoked = time.Now(); return true }, "revoked"},
		"expired":             {func(r *apikey.Record) bool { r.Expires = time.Now(); return true }, "expired"},
		"removed":             {func(*apikey.Record) bool { return false }, "not known"},
		"of an unknown kind":  {func(r *apikey.Record) bool { r.Kind = "god"; return true }, "kind"},
		"of another's tenant": {func(r *apikey.Record) bool { r.Subject = "other"; return true }, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				key, next := apikey.Generate(), apikey.Generate()
				store := newFakeStore(stored("alice", key))
				a := apikey.FromStore(store)
				if got := outcome(a, bearer(key)); got != "alice" {
					t.Fatalf("before: want alice, got %s", got)
				}
				store.set(func() {
					r := store.records["alice"]
					if delete(store.records, "alice"); test.change(&r) {
						store.records["alice"] = r
					}
					store.records["alice.2"] = stored("alice.2", next)
				})
				if got := outcome(a, bearer(next)); got != "alice.2" {
					t.Errorf("the new key: want alice.2, got %s", got)
				}
				time.Sleep(ambit.Freshness)
				if got := outcome(a, bearer(key)); got != test.want {
					t.Errorf("after %v: want %s, got %s", ambit.Freshness, test.want, got)
				}
			})
		})
	}
}

// The time of an expiry that is known already is exact.
func TestT03_StoredKeyExpiresOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := apikey.Generate()
		r := stored("alice", key)
		r.Expires = time.Now().Add(10 * time.Second)
		a := apikey.FromStore(newFakeStore(r))
		for _, want := range []string{"alice", "expired"} {
			if got := outcome(a, bearer(key)); got != want {
				t.Errorf("want %s, got %s", want, got)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// While the store does not answer, who it knew goes on for a minute and nobody
// else comes in; nobody is taken for anonymous or for unknown.
func TestT03_StoreIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key, other, stranger := apikey.Generate(), apikey.Generate(), apikey.Generate()
		store := newFakeStore(stored("alice", key), stored("bob", other))
		a := apikey.FromStore(store)
		want := func(when string, want ...string) {
			t.Helper()
			got := []string{outcome(a, bearer(key)), outcome(a, bearer(other)), outcome(a, bearer(stranger))}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		if got := outcome(a, bearer(key)); got != "alice" {
			t.Fatalf("before: want alice, got %s", got)
		}
		store.set(func() { store.err = errors.New("dial tcp 10.0.0.7: connection refused") })
		want("down", "alice", "unavailable", "unavailable")
		time.Sleep(60*time.Second - 1)
		want("a minute long", "alice", "unavailable", "unavailable")
		asked := store.count()
		if got := outcome(a, bearer(key)); got != "alice" || store.count() != asked {
			t.Errorf("just after: want alice without asking again, got %s, asked %d times more", got, store.count()-asked)
		}
		time.Sleep(time.Nanosecond)
		want("after a minute", "unavailable", "unavailable", "unavailable")
		store.set(func() { store.err = nil })
		want("back", "alice", "bob", "not known")

		_, err := a.Authenticate(bearer(apikey.Generate()))
		if err == nil || ambit.CodeOf(err) == ambit.CodeUnavailable {
			t.Errorf("a stranger: want unauthenticated, got %v", err)
		}
	})
}

// What the caller is told of a failure says nothing of the store; the log does.
func TestStoreFailureIsForTheOperator(t *testing.T) {
	t.Parallel()
	store := newFakeStore()
	store.err = errors.New("dial tcp 10.0.0.7: connection refused")
	a := apikey.FromStore(store)
	_, err := a.Authenticate(bearer(apikey.Generate()))
	e, ok := errors.AsType[*ambit.Error](err)
	if !ok || strings.Contains(e.Error()+e.Hint, "10.0.0.7") || !strings.Contains(err.Error(), "10.0.0.7") {
		t.Errorf("want an error whose cause is for the log alone, got %v", err)
	}
	if _, err := a.Principal(t.Context(), "alice"); ambit.CodeOf(err) != ambit.CodeUnavailable {
		t.Errorf("Principal: want unavailable, got %v", err)
	}
	if got := a.Notices(); len(got) != 1 || !strings.Contains(got[0], "does not answer") {
		t.Errorf("notices: want that the store does not answer, got %q", got)
	}
}

// A store that hangs is a store that is down, after a while.
func TestStoreHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newFakeStore()
		store.hold = make(chan struct{})
		began := time.Now()
		if got := outcome(apikey.FromStore(store), bearer(apikey.Generate())); got != "unavailable" || time.Since(began) > 5*time.Second {
			t.Errorf("want unavailable within 5 s, got %s after %v", got, time.Since(began))
		}
	})
}

// Guessing costs the store nothing where the form tells, and nothing a second time
// where it does not; and nobody's guesses make it forget who is known.
func TestT25_StrangersDoNotBurdenTheStore(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	store := newFakeStore(stored("alice", key))
	a := apikey.FromStore(store)
	if got := outcome(a, bearer(key)); got != "alice" {
		t.Fatalf("want alice, got %s", got)
	}
	for _, malformed := range []string{key[:43], swap(key, 10), "ambit_", key + "0", "ambit_" + strings.Repeat("?", 38)} {
		if got := outcome(a, bearer(malformed)); got != "not well formed" {
			t.Errorf("%q: want not well formed, got %s", malformed, got)
		}
	}
	if got := store.count(); got != 1 {
		t.Errorf("look-ups for malformed keys: want none, got %d", got-1)
	}
	stranger := apikey.Generate()
	for range 3 {
		if got := outcome(a, bearer(stranger)); got != "not known" {
			t.Errorf("want not known, got %s", got)
		}
	}
	if got := store.count(); got != 2 {
		t.Errorf("look-ups for one stranger: want 1, got %d", got-1)
	}
	for range 1<<12 + 1000 {
		if got := outcome(a, bearer(apikey.Generate())); got != "not known" {
			t.Fatalf("want not known, got %s", got)
		}
	}
	if known, unknown := apikey.Remembered(a); known != 1 || unknown != 1<<12 {
		t.Errorf("remembered: want 1 known key and 4096 unknown ones, got %d and %d", known, unknown)
	}
	before := store.count()
	if got := outcome(a, bearer(key)); got != "alice" || store.count() != before {
		t.Errorf("want alice without a look-up, got %s and %d", got, store.count()-before)
	}
}

// However many guess at the same time, the store is asked about a few of their
// keys, and who is known is asked about at once. Who has gone is not asked about
// any more, and who finds the line full is told so.
func TestT25_StrangersWaitInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := apikey.Generate()
		store := newFakeStore(stored("alice", key))
		a := apikey.FromStore(store)
		if got := outcome(a, bearer(key)); got != "alice" {
			t.Fatalf("want alice, got %s", got)
		}
		time.Sleep(ambit.Freshness) // she has to be asked about again
		store.hold = make(chan struct{})
		guessing, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[string]int{}
		for range 2000 {
			all.Go(func() {
				got := outcome(a, bearer(apikey.Generate()).WithContext(guessing))
				mu.Lock()
				defer mu.Unlock()
				told[got]++
			})
		}
		synctest.Wait()
		if got := store.count() - 1; got != 4 {
			t.Errorf("look-ups at the same time: want 4, got %d", got)
		}
		if diff := cmp.Diff(map[string]int{"unavailable": 2000 - 4 - 1024}, told); diff != "" {
			t.Errorf("told at once (-want +got):\n%s", diff)
		}
		all.Go(func() {
			if got := outcome(a, bearer(key)); got != "alice" {
				t.Errorf("who is known: want alice, got %s", got)
			}
		})
		synctest.Wait()
		if got := store.count() - 1; got != 5 {
			t.Errorf("look-ups with that of alice: want 5, got %d", got)
		}
		leave()
		synctest.Wait()
		close(store.hold)
		all.Wait()
		if got := store.count() - 1; got != 5 {
			t.Errorf("look-ups after all have gone: want 5, got %d", got)
		}
		if got := outcome(a, bearer(apikey.Generate())); got != "not known" {
			t.Errorf("afterwards: want not known, got %s", got)
		}
	})
}

// Many who come at once with one key ask once, and that the first goes away ends
// the question for none.
func TestStoreIsAskedOnceForMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := apikey.Generate()
		store := newFakeStore(stored("alice", key))
		store.hold = make(chan struct{})
		a := apikey.FromStore(store)
		first, leave := context.WithCancel(t.Context())
		impatient, giveUp := context.WithCancel(t.Context())
		var together sync.WaitGroup
		ask := func(ctx context.Context, want string) {
			together.Go(func() {
				if got := outcome(a, bearer(key).WithContext(ctx)); got != want {
					t.Errorf("want %s, got %s", want, got)
				}
			})
			synctest.Wait()
		}
		ask(first, "alice")
		for range 10 {
			ask(t.Context(), "alice")
		}
		ask(impatient, "unavailable")
		leave()
		giveUp()
		synctest.Wait()
		close(store.hold)
		together.Wait()
		if got := store.count(); got != 1 {
			t.Errorf("look-ups: want 1, got %d", got)
		}
	})
}

// A panic of the store is the guard's to contain, and leaves nobody waiting.
func TestStorePanics(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	store := newFakeStore(stored("alice", key))
	store.panics = true
	a := apikey.FromStore(store)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("want the panic to go on")
			}
		}()
		_, _ = a.Authenticate(bearer(key))
	}()
	store.set(func() { store.panics = false })
	if got := outcome(a, bearer(key)); got != "alice" {
		t.Errorf("afterwards: want alice, got %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("FromStore without a store: want a panic")
		}
	}()
	apikey.FromStore(nil)
}

// A store that finds a record by something less than the whole hash lets nobody in.
func TestStoreFindsAnother(t *testing.T) {
	t.Parallel()
	if got := outcome(apikey.FromStore(anyRecord{}), bearer(apikey.Generate())); got != "unavailable" {
		t.Errorf("want unavailable, got %s", got)
	}
}

type anyRecord struct{ apikey.Store }

func (anyRecord) ByHash(context.Context, string) (apikey.Record, bool, error) {
	return stored("alice", "another"), true, nil
}

func TestPrincipalOfAStoredKey(t *testing.T) {
	t.Parallel()
	ended := stored("ended", "b")
	ended.Revoked = time.Now()
	a := apikey.FromStore(newFakeStore(stored("alice", "a"), ended))
	got, err := a.Principal(t.Context(), "alice")
	if diff := cmp.Diff(&ambit.Principal{Authority: "apikey", Subject: "alice", Unscoped: true, Claims: of("alice")}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for name, want := range map[string]ambit.Code{"ended": ambit.CodeForbidden, "nobody": ambit.CodeInvalidInput} {
		if p, err := a.Principal(t.Context(), name); p != nil || ambit.CodeOf(err) != want {
			t.Errorf("%s: want %s, got %v, %v", name, want, p, err)
		}
	}
}
