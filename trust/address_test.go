package trust_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

func from(address string) func(*http.Request) {
	return func(r *http.Request) { r.RemoteAddr = address }
}

// asked is an authenticator that counts how often it is asked.
type asked struct {
	trust.Authenticator
	times int
}

func (a *asked) Authenticate(r *http.Request) (*trust.Identity, error) {
	a.times++
	return a.Authenticator.Authenticate(r)
}

// admit does with one request what a surface does that turns strangers away.
func admit(g *trust.Guard, r *http.Request) *ambit.Error {
	identity, refused := g.Admit(r)
	if refused == nil && identity.Anonymous() {
		refused = g.Unauthenticated()
	}
	if refused != nil {
		g.Challenge(http.Header{}, r, identity, refused)
	}
	return refused
}

var (
	right = header("Authorization", "Token alice")
	wrong = header("Authorization", "Token mallory")
)

// Refusals for lack of a credential count, and beyond the limit nobody is asked
// about the requests of the address, right ones included.
func TestT25_Refusals(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(*http.Request){
		"wrong credential": wrong,
		"no credential":    func(*http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				authenticator := &asked{Authenticator: tokens("Token", "alice")}
				guard := newGuard(t, trust.Options{
					Authenticators: []trust.Authenticator{authenticator},
					Refusals:       ambit.Rate{Calls: 4, Per: time.Minute, Burst: 3},
				})
				mine, other := from("198.51.100.1:1000"), from("198.51.100.2:1000")
				for i := range 3 {
					if e := admit(guard, request(mine, refuse)); codeOf(e) == ambit.CodeRateLimited || e == nil {
						t.Fatalf("refusal %d: want another one, got %v", i, e)
					}
				}
				before := authenticator.times
				<-time.After(500 * time.Millisecond)
				e := admit(guard, request(mine, right))
				if codeOf(e) != ambit.CodeRateLimited || e.RetryAfter != 15*time.Second { // 14.5 rounded up
					t.Errorf("want rate_limited and 15 s to wait, got %v, %v", e, e.RetryAfter)
				}
				if authenticator.times != before {
					t.Error("an authenticator was asked about an address that has to wait")
				}
				if e := admit(guard, request(other, right)); e != nil {
					t.Errorf("another address: want no refusal, got %v", e)
				}
				<-time.After(14500 * time.Millisecond)
				if e := admit(guard, request(mine, right)); e != nil {
					t.Errorf("after the wait: want no refusal, got %v", e)
				}
				if e := admit(guard, request(mine, refuse)); codeOf(e) == ambit.CodeRateLimited {
					t.Errorf("after the wait: want one more refusal of the first kind, got %v", e)
				}
				if e := admit(guard, request(mine, right)); codeOf(e) != ambit.CodeRateLimited {
					t.Errorf("after that: want rate_limited, got %v", e)
				}
			})
		})
	}
}

// What a page of somebody else can make a browser send takes nothing from the
// programs at the same address: it counts apart.
func TestT25_RefusalsOfForeignPages(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(*http.Request){
		"host":   host("evil.example"),
		"origin": header("Origin", "https://evil.example"),
		"image":  header("Sec-Fetch-Site", "cross-site"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app, log := logged()
			guard, err := trust.NewGuard(app, trust.Options{
				Authenticators: []trust.Authenticator{tokens("Token", "alice")},
				Refusals:       ambit.Rate{Calls: 3, Per: time.Hour},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []ambit.Code
			for range 5 {
				got = append(got, codeOf(admit(guard, request(refuse))))
			}
			const blocked, limited = ambit.CodeCrossOriginBlocked, ambit.CodeRateLimited
			if diff := cmp.Diff([]ambit.Code{blocked, blocked, blocked, limited, limited}, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if lines := strings.Count(log.String(), "its Host is none that is answered to"); name == "host" && lines != 3 {
				t.Errorf("want a line in the log for each of 3 refusals, got %d", lines)
			}
			if e := admit(guard, request(right)); e != nil {
				t.Errorf("a program with a good credential: want no refusal, got %v", e)
			}
			for range 3 {
				if e := admit(guard, request(wrong)); codeOf(e) != ambit.CodeUnauthenticated {
					t.Errorf("a guess: want unauthenticated, got %v", e)
				}
			}
			if e := admit(guard, request(right)); codeOf(e) != limited {
				t.Errorf("after as many guesses as are allowed: want rate_limited, got %v", e)
			}
		})
	}
}

// What is being judged counts until it is known to be good, so that sending all
// guesses at once gains nothing.
func TestT25_RefusalsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := tokens("Token", "alice")
		judge := make(chan struct{}) // closed when the authenticator knows
		asked := 0
		slow := fake{name: "slow", authenticate: func(r *http.Request) (*trust.Identity, error) {
			asked++ // by one goroutine at a time, see send
			<-judge
			return known.Authenticate(r)
		}}
		guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{slow}, Refusals: ambit.Rate{Calls: 3, Per: time.Hour}})
		send := func(credential func(*http.Request), times int) map[ambit.Code]int {
			codes := make(chan ambit.Code, times)
			for range times {
				go func() { codes <- codeOf(admit(guard, request(credential))) }()
				synctest.Wait()
			}
			close(judge)
			got := map[ambit.Code]int{}
			for range times {
				got[<-codes]++
			}
			judge = make(chan struct{})
			return got
		}
		for range 2 { // what was taken is given back
			if diff := cmp.Diff(map[ambit.Code]int{"": 3, ambit.CodeRateLimited: 1}, send(right, 4)); diff != "" {
				t.Errorf("good credentials (-want +got):\n%s", diff)
			}
		}
		asked = 0
		if diff := cmp.Diff(map[ambit.Code]int{ambit.CodeUnauthenticated: 3, ambit.CodeRateLimited: 17}, send(wrong, 20)); diff != "" {
			t.Errorf("guesses at once (-want +got):\n%s", diff)
		}
		if asked != 3 {
			t.Errorf("want 3 guesses judged, got %d", asked)
		}
		if diff := cmp.Diff(map[ambit.Code]int{ambit.CodeRateLimited: 1}, send(right, 1)); diff != "" {
			t.Errorf("after that (-want +got):\n%s", diff)
		}
	})
}

// What counts as one address.
func TestT25_Address(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, first, second string
		same                bool
	}{
		{"ports", "198.51.100.1:1", "198.51.100.1:2", true},
		{"neighbors of IPv4", "198.51.100.1:1", "198.51.100.2:1", false},
		{"neighbors of IPv6", "[2001:db8::1]:1", "[2001:db8::ffff:ffff:ffff:ffff]:1", true},
		{"networks of IPv6", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"IPv4 in IPv6", "198.51.100.1:1", "[::ffff:198.51.100.1]:1", true},
		{"zones", "[fe80::1%eth0]:1", "[fe80::1%eth1]:1", true},
		{"no addresses", "@", "", true},
		{"none and one", "@", "198.51.100.1:1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			guard := newGuard(t, trust.Options{
				Authenticators: []trust.Authenticator{tokens("Token", "alice")},
				Refusals:       ambit.Rate{Calls: 1, Per: time.Hour},
			})
			if e := admit(guard, request(from(test.first), wrong)); codeOf(e) != ambit.CodeUnauthenticated {
				t.Fatalf("first: want unauthenticated, got %v", e)
			}
			want := ambit.Code("")
			if test.same {
				want = ambit.CodeRateLimited
			}
			if e := admit(guard, request(from(test.second), right)); codeOf(e) != want {
				t.Errorf("second: want %q, got %v", want, e)
			}
		})
	}
}

func TestT25_DefaultRefusals(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int{
		"198.51.100.1:1": trust.DefaultRefusals, "[2001:db8::1]:1": trust.DefaultRefusals,
		"127.0.0.1:1": trust.DefaultNearRefusals, "[::1]:1": trust.DefaultNearRefusals, "10.1.2.3:1": trust.DefaultNearRefusals,
		"192.168.0.9:1": trust.DefaultNearRefusals, "[fd00::1]:1": trust.DefaultNearRefusals, "[fe80::1]:1": trust.DefaultNearRefusals,
		"@": trust.DefaultNearRefusals,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // whose clock stands still
				guard := newGuard(t, trust.Options{Authenticators: []trust.Authenticator{tokens("Token", "alice")}})
				got := 0
				for codeOf(admit(guard, request(from(address), wrong))) == ambit.CodeUnauthenticated {
					got++
				}
				if got != want {
					t.Errorf("want %d refusals before all is refused, got %d", want, got)
				}
			})
		})
	}
}

func TestT25_NoLimitOfRefusals(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, trust.Options{Hosts: []string{"notes.example"}, Refusals: ambit.Rate{Calls: ambit.Unlimited}})
	for range trust.DefaultNearRefusals + 1 {
		if e := admit(guard, request()); codeOf(e) != ambit.CodeCrossOriginBlocked {
			t.Fatalf("want cross_origin_blocked, got %v", e)
		}
	}
}

// Nobody can make the guard remember without end, and who is over its limit
// leaves one line for the operator.
func TestT25_RefusalsAreBounded(t *testing.T) {
	t.Parallel()
	app, log := logged()
	guard, err := trust.NewGuard(app, trust.Options{
		Authenticators: []trust.Authenticator{fake{name: "Token", authenticate: func(*http.Request) (*trust.Identity, error) { return nil, nil }}},
		Refusals:       ambit.Rate{Calls: 1, Per: time.Hour, Burst: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	const many = 1<<16 + 1000
	r := request()
	for i := range many {
		r.RemoteAddr = fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff)
		if e := admit(guard, r); codeOf(e) != ambit.CodeUnauthenticated {
			t.Fatalf("address %d: want unauthenticated, got %v", i, e)
		}
	}
	if got := trust.Remembered(guard); got != 1<<16 {
		t.Errorf("want 65,536 addresses remembered, got %d", got)
	}
	for _, want := range []ambit.Code{ambit.CodeUnauthenticated, ambit.CodeUnauthenticated, ambit.CodeRateLimited, ambit.CodeRateLimited} {
		if e := admit(guard, request(from("198.51.100.1:99"))); codeOf(e) != want {
			t.Errorf("want %q, got %v", want, e)
		}
	}
	if got := strings.Count(log.String(), "too many refused requests of one address"); got != 1 || !strings.Contains(log.String(), "address=198.51.100.1\n") {
		t.Errorf("want one line that names the address, got %d:\n%s", got, log)
	}
}

func TestRefusalsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := trust.NewGuard(newApp(ambit.Options{}), trust.Options{Refusals: ambit.Rate{Calls: 5}})
	want := "trust: Options.Refusals: Per is not above zero: leave it zero for the default, or say how many refusals in which time"
	if err == nil {
		t.Fatal("want an error, got none")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
