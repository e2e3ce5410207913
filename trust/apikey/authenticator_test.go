package apikey_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
)

func authorization(values ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost/api/greet", nil)
	if len(values) > 0 {
		r.Header["Authorization"] = values
	}
	return r
}

// of returns the claims of the principal of a key.
func of(key string) map[string]any { return map[string]any{apikey.KeyClaim: key} }

func TestT02_Authenticate(t *testing.T) {
	t.Parallel()
	alice, stranger := apikey.Generate(), apikey.Generate()
	a, err := apikey.New(apikey.Key{Name: "alice", Secret: alice, Principal: &ambit.Principal{Permissions: []string{"notes:read"}}})
	if err != nil {
		t.Fatal(err)
	}
	const notMine, invalid = "not mine", "invalid"
	tests := []struct {
		name   string
		header []string
		want   string
	}{
		{"no header", nil, notMine},
		{"the key", []string{"Bearer " + alice}, "alice"},
		{"the scheme in another case", []string{"bEARER  " + alice + " "}, "alice"},
		{"another key", []string{"Bearer " + stranger}, invalid},
		{"a wrong checksum", []string{"Bearer " + alice[:43] + "?"}, invalid},
		{"one digit changed", []string{"Bearer " + swap(alice, 10)}, invalid},
		{"cut short", []string{"Bearer " + alice[:43]}, invalid},
		{"the prefix alone", []string{"Bearer ambit_"}, invalid},
		{"another token", []string{"Bearer eyJhbGciOiJFUzI1NiJ9.e30.AA"}, notMine},
		{"the prefix in another case", []string{"Bearer AMBIT_" + alice[6:]}, notMine},
		{"another scheme", []string{"Basic " + alice}, notMine},
		{"no scheme", []string{alice}, notMine},
		{"empty", []string{""}, notMine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			identity, err := a.Authenticate(authorization(tt.header...))
			got := notMine
			switch {
			case err != nil:
				got = invalid
				if strings.Contains(err.Error(), alice[6:20]) {
					t.Errorf("the error shows the key: %v", err)
				}
			case identity != nil:
				got = identity.Principal.Subject
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("caller (-want +got):\n%s", diff)
			}
		})
	}
}

// swap changes the digit at i for another one.
func swap(key string, i int) string {
	other := "x"
	if key[i] == 'x' {
		other = "y"
	}
	return key[:i] + other + key[i+1:]
}

func TestT32_KeyInTheQueryIsNotRead(t *testing.T) {
	t.Parallel()
	key := apikey.Generate()
	a, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/?access_token="+key+"&key="+key, strings.NewReader("access_token="+key))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if identity, err := a.Authenticate(r); identity != nil || err != nil {
		t.Errorf("want no identity and no error, got %v, %v", identity, err)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := apikey.Generate()
		a, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}, Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		r := authorization("Bearer " + key)
		time.Sleep(time.Hour - time.Nanosecond)
		if identity, err := a.Authenticate(r); err != nil || identity == nil {
			t.Errorf("before it expires: want an identity, got %v, %v", identity, err)
		}
		time.Sleep(time.Nanosecond)
		if identity, err := a.Authenticate(r); err == nil || identity != nil {
			t.Errorf("when it expires: want an error, got %v, %v", identity, err)
		}
	})
}

func TestPrincipalOfAKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		given ambit.Principal
		want  ambit.Principal
	}{
		{"nothing said", ambit.Principal{}, ambit.Principal{Authority: "apikey", Subject: "ci", Unscoped: true, Claims: of("ci")}},
		{
			"all said",
			ambit.Principal{Authority: "apikey", Subject: "build", Kind: ambit.KindService, Tenant: "acme", Permissions: []string{"p"}, Roles: []string{"r"}, Unscoped: true},
			ambit.Principal{Authority: "apikey", Subject: "build", Kind: ambit.KindService, Tenant: "acme", Permissions: []string{"p"}, Roles: []string{"r"}, Unscoped: true, Claims: of("ci")},
		},
		{"scopes", ambit.Principal{Scopes: []string{"s"}}, ambit.Principal{Authority: "apikey", Subject: "ci", Scopes: []string{"s"}, Claims: of("ci")}},
		{"no scopes at all", ambit.Principal{Scopes: []string{}}, ambit.Principal{Authority: "apikey", Subject: "ci", Scopes: []string{}, Claims: of("ci")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			key, given := apikey.Generate(), tt.given
			a, err := apikey.New(apikey.Key{Name: "ci", Hash: apikey.Hash(key), Principal: &given})
			if err != nil {
				t.Fatal(err)
			}
			given.Subject = "changed later"
			identity, err := a.Authenticate(authorization("Bearer " + key))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, identity.Principal); diff != "" {
				t.Errorf("principal (-want +got):\n%s", diff)
			}
			named, err := a.Principal(t.Context(), "ci")
			if diff := cmp.Diff(identity.Principal, named); diff != "" || err != nil {
				t.Errorf("Principal by name, error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The principal of a key expires with the key, so that runs that have begun end
// with it, or earlier where it says so itself.
func TestT03_PrincipalExpiresWithItsKey(t *testing.T) {
	t.Parallel()
	never, early, late := time.Time{}, time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	for _, tt := range []struct {
		name                 string
		key, principal, want time.Time
	}{
		{"neither", never, never, never},
		{"the key", early, never, early},
		{"the principal", never, early, early},
		{"the key first", early, late, early},
		{"the principal first", late, early, early},
	} {
		secret := apikey.Generate()
		a, err := apikey.New(apikey.Key{Name: "k", Secret: secret, Expires: tt.key, Principal: &ambit.Principal{Expires: tt.principal}})
		if err != nil {
			t.Fatal(err)
		}
		identity, err := a.Authenticate(authorization("Bearer " + secret))
		if err != nil {
			t.Fatal(err)
		}
		named, _ := a.Principal(t.Context(), "k")
		if diff := cmp.Diff([]time.Time{tt.want, tt.want}, []time.Time{identity.Principal.Expires, named.Expires}); diff != "" {
			t.Errorf("%s: expiry of the principal, by its key and by name (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Nothing that is done later to what was given or returned changes who a key
// stands for.
func TestPrincipalIsACopy(t *testing.T) {
	t.Parallel()
	principal := func(word string) *ambit.Principal {
		return &ambit.Principal{
			Authority: "apikey", Subject: "k", Permissions: []string{word}, Roles: []string{word}, Scopes: []string{word}, Behind: []string{word},
			Claims: map[string]any{"claim": word, apikey.KeyClaim: "k"},
		}
	}
	spoil := func(p *ambit.Principal) {
		p.Permissions[0], p.Roles[0], p.Scopes[0], p.Behind[0], p.Claims["claim"] = "admin", "admin", "admin", "admin", "admin"
	}
	given := principal("read")
	a, err := apikey.New(apikey.Key{Name: "k", Secret: apikey.Generate(), Principal: given})
	if err != nil {
		t.Fatal(err)
	}
	spoil(given)
	for _, after := range []string{"what was given was changed", "what was returned was changed"} {
		got, _ := a.Principal(t.Context(), "k")
		if diff := cmp.Diff(principal("read"), got); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", after, diff)
		}
		spoil(got)
	}
}

func TestKeysThatCannotWork(t *testing.T) {
	t.Parallel()
	key, nobody := apikey.Generate(), &ambit.Principal{}
	tests := []struct {
		want string
		keys []apikey.Key
	}{
		{"key 1 has no name", []apikey.Key{{Secret: key, Principal: nobody}}},
		{"no principal", []apikey.Key{{Name: "a", Secret: key}}},
		{"not of kind", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Kind: ambit.KindAnonymous}}}},
		{"authority", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Authority: "https://issuer.example"}}}},
		{"choose one", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Scopes: []string{"s"}, Unscoped: true}}}},
		{"tenant has more than 255 bytes", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Tenant: strings.Repeat("t", 256)}}}},
		{"tenant has control characters", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Tenant: "a\nb"}}}},
		{"tenant is no UTF-8", []apikey.Key{{Name: "a", Secret: key, Principal: &ambit.Principal{Tenant: "\xff"}}}},
		{"give one", []apikey.Key{{Name: "a", Secret: key, Hash: apikey.Hash(key), Principal: nobody}}},
		{"not a key", []apikey.Key{{Name: "a", Secret: "hunter2", Principal: nobody}}},
		{"not a key", []apikey.Key{{Name: "a", Secret: swap(key, 20), Principal: nobody}}},
		{"has no hash", []apikey.Key{{Name: "a", Principal: nobody}}},
		{"is a key, not the hash of one", []apikey.Key{{Name: "a", Hash: key, Principal: nobody}}},
		{"not a SHA-256", []apikey.Key{{Name: "a", Hash: apikey.Hash(key)[1:], Principal: nobody}}},
		{"has this name", []apikey.Key{{Name: "a", Secret: key, Principal: nobody}, {Name: "a", Secret: apikey.Generate(), Principal: nobody}}},
		{"is the same", []apikey.Key{{Name: "a", Secret: key, Principal: nobody}, {Name: "b", Hash: apikey.Hash(key), Principal: nobody}}},
	}
	for _, tt := range tests {
		a, err := apikey.New(tt.keys...)
		if a != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want an error with %q, got %v", tt.want, err)
		}
		if err != nil && (strings.Contains(err.Error(), key[6:20]) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestNameChallengeAndHint(t *testing.T) {
	t.Parallel()
	a, err := apikey.New()
	if err != nil {
		t.Fatal(err)
	}
	got := []string{a.Name(), a.Challenge(authorization()), a.Hint()}
	if diff := cmp.Diff([]string{"apikey", `Bearer realm="apikey"`, "Send Authorization: Bearer KEY."}, got); diff != "" {
		t.Errorf("name, challenge and hint (-want +got):\n%s", diff)
	}
	if got := a.Notices(); len(got) != 1 || !strings.Contains(got[0], "no API keys") {
		t.Errorf("Notices without keys: want one that says so, got %q", got)
	}
	if some, err := apikey.New(apikey.Key{Name: "a", Secret: apikey.Generate(), Principal: &ambit.Principal{}}); err != nil || some.Notices() != nil {
		t.Errorf("Notices with a key: want none, got %q, %v", some.Notices(), err)
	}
	if _, err := a.Principal(t.Context(), "nobody"); ambit.CodeOf(err) != ambit.CodeInvalidInput {
		t.Errorf("Principal of an unknown name: want invalid_input, got %v", err)
	}
}

// Nothing but the key itself opens anything, whatever the header looks like.
func FuzzAuthorization(f *testing.F) {
	const key = "ambit_qXJMyNnOtsdQTqvhVQmL9k88beX9JQ1k13jEVc"
	fixed, err := apikey.New(apikey.Key{Name: "alice", Secret: key, Principal: &ambit.Principal{}})
	if err != nil {
		f.Fatal(err)
	}
	both := []*apikey.Authenticator{fixed, apikey.FromStore(newFakeStore(stored("alice", key)))}
	for _, seed := range []string{"Bearer " + key, "bearer  " + key + " ", "Bearer " + key + "," + key, "Bearer ambit_", "Bearer", "", "Basic YTpi", key} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for _, a := range both {
			identity, err := a.Authenticate(authorization(header))
			if identity != nil && (err != nil || !strings.EqualFold(header[:7], "Bearer ") || strings.Trim(header[7:], " ") != key) {
				t.Errorf("%q opens what %q opens", header, key)
			}
		}
	})
}
