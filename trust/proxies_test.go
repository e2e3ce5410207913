package trust_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// client returns the address that a guard takes a request for whose proxies write
// a header.
func client(t testing.TB, proxies []string, written, connection string, headers ...string) string {
	t.Helper()
	r := request(from(connection))
	for i := 0; i < len(headers); i += 2 {
		r.Header[headers[i]] = append(r.Header[headers[i]], headers[i+1])
	}
	address, err := trust.Client(proxies, written, r)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Whose request it is that a connection brings. The proxies are 10.0.0.0/24, all
// of 2001:db8:f::/48, and 192.0.2.1.
func TestT25_Proxies(t *testing.T) {
	t.Parallel()
	proxies := []string{"10.0.0.0/24", "2001:db8:f::/48", "192.0.2.1"}
	const (
		proxy, own = "10.0.0.7:41000", "10.0.0.7" // its own address: nobody is believed
		xff, fwd   = "X-Forwarded-For", "Forwarded"
	)
	for _, tt := range []struct {
		name, connection string
		headers          []string
		want             string
	}{
		{"nothing said", proxy, nil, own},
		{"a stranger says it is another", "198.51.100.9:1", []string{xff, "203.0.113.5"}, "198.51.100.9"},
		{"a neighbor of the proxies", "10.0.1.7:1", []string{xff, "203.0.113.5"}, "10.0.1.7"},
		{"over no network", "@", []string{xff, "203.0.113.5"}, "invalid IP"},

		{"one address", proxy, []string{xff, "203.0.113.5"}, "203.0.113.5"},
		{"from a proxy of IPv4 in IPv6", "[::ffff:10.0.0.7]:1", []string{xff, "203.0.113.5"}, "203.0.113.5"},
		{"from the single proxy", "192.0.2.1:1", []string{xff, "203.0.113.5"}, "203.0.113.5"},
		{"from a proxy of IPv6", "[2001:db8:f:1::5]:1", []string{xff, "203.0.113.5"}, "203.0.113.5"},
		{"what the sender made up stands first", proxy, []string{xff, "1.2.3.4, 203.0.113.5"}, "203.0.113.5"},
		{"garbage of the sender's stands first", proxy, []string{xff, "<script>, ,, 203.0.113.5"}, "203.0.113.5"},
		{"two proxies", proxy, []string{xff, "1.2.3.4, 203.0.113.5, 10.0.0.9"}, "203.0.113.5"},
		{"two lines", proxy, []string{xff, "1.2.3.4", xff, "203.0.113.5"}, "203.0.113.5"},
		{"proxies alone", proxy, []string{xff, "10.0.0.9, 10.0.0.8"}, "10.0.0.9"},
		{"with a port", proxy, []string{xff, "203.0.113.5:4711"}, "203.0.113.5"},
		{"IPv6", proxy, []string{xff, "2001:DB8::5"}, "2001:db8::5"},
		{"IPv6 in brackets", proxy, []string{xff, "[2001:db8::5]"}, "2001:db8::5"},
		{"IPv6 with a port", proxy, []string{xff, "[2001:db8::5]:4711"}, "2001:db8::5"},
		{"IPv4 in IPv6", proxy, []string{xff, "::ffff:203.0.113.5"}, "203.0.113.5"},
		{"a proxy as IPv4 in IPv6", proxy, []string{xff, "203.0.113.5, ::ffff:10.0.0.9"}, "203.0.113.5"},

		{"empty", proxy, []string{xff, ""}, own},
		{"empty at the end", proxy, []string{xff, "203.0.113.5,"}, own},
		{"a name", proxy, []string{xff, "localhost"}, own},
		{"unknown", proxy, []string{xff, "unknown"}, own},
		{"a zone", proxy, []string{xff, "fe80::1%eth0"}, own},
		{"garbage behind a proxy", proxy, []string{xff, "203.0.113.5, ?, 10.0.0.9"}, own},
		{"long, of the sender's making", proxy, []string{xff, strings.Repeat("?", 9000) + ", 203.0.113.5"}, "203.0.113.5"},
		{"too many proxies", proxy, []string{xff, "203.0.113.5" + strings.Repeat(", 10.0.0.9", 16)}, own},
		{"as many as may be", proxy, []string{xff, "203.0.113.5" + strings.Repeat(", 10.0.0.9", 15)}, "203.0.113.5"},

		{"Forwarded", proxy, []string{fwd, "for=203.0.113.5"}, "203.0.113.5"},
		{"Forwarded in full", proxy, []string{fwd, `by=_x; For="[2001:db8::5]:4711";proto=https;host="a,b;for=1.2.3.4"`}, "2001:db8::5"},
		{"Forwarded of two proxies", proxy, []string{fwd, `for=1.2.3.4, for="203.0.113.5:1", for=10.0.0.9;proto=http`}, "203.0.113.5"},
		{"Forwarded of two lines", proxy, []string{fwd, "for=1.2.3.4", fwd, "for=203.0.113.5"}, "203.0.113.5"},
		{"Forwarded with a quote that the sender left open", proxy, []string{fwd, `for="1.2.3.4, for=203.0.113.5`}, own},
		{"Forwarded with a quote that the sender escaped", proxy, []string{fwd, `for=1.2.3.4;x="\"", for=203.0.113.5`}, "203.0.113.5"},
		{"Forwarded with an escape in the address", proxy, []string{fwd, `for="203.0.113.\5"`}, own},
		{"Forwarded with two addresses in one", proxy, []string{fwd, "for=203.0.113.5;for=1.2.3.4"}, own},
		{"Forwarded without an address", proxy, []string{fwd, "proto=https"}, own},
		{"Forwarded that hides the address", proxy, []string{fwd, "for=_hidden"}, own},
		{"Forwarded that is empty", proxy, []string{fwd, ""}, own},

		{"Forwarded that is too long", proxy, []string{fwd, strings.Repeat("for=10.0.0.9, ", 900)}, own},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			written, other, made := xff, fwd, "for=1.2.3.4" // by the proxies, and by the sender
			if slices.Contains(tt.headers, fwd) {
				written, other, made = fwd, xff, "1.2.3.4"
			}
			if diff := cmp.Diff(tt.want, client(t, proxies, written, tt.connection, tt.headers...)); diff != "" {
				t.Errorf("address (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, client(t, proxies, written, tt.connection, append(tt.headers, other, made)...)); diff != "" {
				t.Errorf("address, where the sender adds the header that the proxies do not write (-want +got):\n%s", diff)
			}
		})
	}
}

// Senders behind one proxy wait for themselves alone, and the log names them.
func TestT25_RefusalsBehindAProxy(t *testing.T) {
	t.Parallel()
	app, log := logged()
	guard, err := trust.NewGuard(app, trust.Options{
		Authenticators: []trust.Authenticator{tokens("Token", "alice")},
		Proxies:        []string{"10.0.0.0/24"}, ProxyHeader: "X-Forwarded-For",
		Refusals: ambit.Rate{Calls: 2, Per: time.Hour, Burst: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	behind := func(address string) func(*http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = "10.0.0.7:41000"
			r.Header.Set("X-Forwarded-For", "1.2.3.4, "+address)
		}
	}
	for _, step := range []struct {
		who, credential func(*http.Request)
		want            ambit.Code
	}{
		{behind("203.0.113.5"), wrong, ambit.CodeUnauthenticated},
		{behind("203.0.113.5"), wrong, ambit.CodeUnauthenticated},
		{behind("203.0.113.5"), right, ambit.CodeRateLimited},
		{behind("203.0.113.6"), right, ""},
		{from("10.0.0.7:41000"), right, ""},
		// A sender that reaches the application past the proxy speaks for itself.
		{func(r *http.Request) { behind("203.0.113.5")(r); r.RemoteAddr = "198.51.100.1:1" }, right, ""},
	} {
		if e := admit(guard, request(step.who, step.credential)); codeOf(e) != step.want {
			t.Errorf("want %q, got %v", step.want, e)
		}
	}
	for _, want := range []string{`too many refused requests of one address: all of its requests are refused for a while" address=203.0.113.5`, `"credential refused" authenticator=Token address=203.0.113.5`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log: want %q in\n%s", want, log)
		}
	}
}

// Which host and scheme the application is reached by is configured, whatever a
// proxy says, even one that is believed about addresses.
func TestT28_ForwardedHostAndScheme(t *testing.T) {
	t.Parallel()
	guard := newGuard(t, trust.Options{
		PublicURL: "https://notes.example", AllowUnauthenticated: true, Proxies: []string{"10.0.0.0/24"}, ProxyHeader: "X-Forwarded-For",
	})
	behind := func(host, origin string) *http.Request {
		return request(from("10.0.0.7:41000"), func(r *http.Request) {
			r.Host = host
			r.Header.Set("Origin", origin)
			for _, name := range []string{"X-Forwarded-Host", "X-Original-Host"} {
				r.Header.Set(name, "notes.example")
			}
			r.Header.Set("X-Forwarded-Proto", "https")
			r.Header.Set("X-Forwarded-For", "203.0.113.5")
		})
	}
	for _, tt := range []struct {
		host, origin string
		want         ambit.Code
	}{
		{"notes.example", "https://notes.example", ""},
		{"notes.example", "http://notes.example", ambit.CodeCrossOriginBlocked},
		{"evil.example", "https://evil.example", ambit.CodeCrossOriginBlocked},
		{"evil.example", "https://notes.example", ambit.CodeCrossOriginBlocked},
	} {
		if _, e := guard.Admit(behind(tt.host, tt.origin)); codeOf(e) != tt.want {
			t.Errorf("host %s, origin %s: want %q, got %v", tt.host, tt.origin, tt.want, e)
		}
	}
}

func TestProxiesAreChecked(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"": "give an address or a network", "proxy.example": "give an address or a network", "10.0.0.0/33": "give an address or a network",
		"fe80::1%eth0": "give an address or a network", "::ffff:10.0.0.1": "give an address or a network",
		"0.0.0.0/0": "every sender could say that it is somebody else", "::/0": "every sender could say that it is somebody else",
	} {
		_, err := trust.NewGuard(newApp(ambit.Options{}), trust.Options{Proxies: []string{entry}, ProxyHeader: "Forwarded"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("Options.Proxies holds %q", entry)) {
			t.Errorf("%q: want an error that names the setting and says %q, got %v", entry, want, err)
		}
	}
}

// Which header the proxies write has to be said: a sender could write the other.
func TestProxyHeaderIsChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		proxies      []string
		header, want string
	}{
		{[]string{"10.0.0.7"}, "x-forwarded-for", ""},
		{[]string{"10.0.0.7"}, "forwarded", ""},
		{[]string{"10.0.0.7"}, "", "trust: Options.Proxies is given and Options.ProxyHeader is not: name the header in which these proxies say whose request it is, \"X-Forwarded-For\" or \"Forwarded\""},
		{[]string{"10.0.0.7"}, "X-Real-Ip", "trust: Options.ProxyHeader is \"X-Real-Ip\": give \"X-Forwarded-For\" or \"Forwarded\""},
		{nil, "Forwarded", "trust: Options.ProxyHeader is given and Options.Proxies is not: no other connection is believed, so list the proxies' addresses"},
	} {
		got := ""
		if _, err := trust.NewGuard(newApp(ambit.Options{}), trust.Options{Proxies: tt.proxies, ProxyHeader: tt.header}); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("proxies %q, header %q (-want +got):\n%s", tt.proxies, tt.header, diff)
		}
	}
}

// Whatever a header holds, a sender is taken for itself or for the proxy, never
// for a proxy's neighbor, and nothing panics.
func FuzzForwarded(f *testing.F) {
	for _, seed := range []string{"", "for=203.0.113.5", `for="[2001:db8::1]:1"`, `for="`, `"\`, "1.2.3.4, 10.0.0.9", ",", ";", "for=;for=", `for="_x", for=10.0.0.9`} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, forwarded, before string) {
		proxies := []string{"10.0.0.0/24"}
		// What a proxy appends decides, whatever the sender put before it.
		if got := client(t, proxies, "X-Forwarded-For", "10.0.0.7:1", "X-Forwarded-For", before, "X-Forwarded-For", "203.0.113.5", "Forwarded", forwarded); got != "203.0.113.5" {
			t.Errorf("X-Forwarded-For: want what the proxy said, got %s", got)
		}
		if got := client(t, proxies, "Forwarded", "10.0.0.7:1", "Forwarded", forwarded, "Forwarded", "for=203.0.113.5", "X-Forwarded-For", before); got != "203.0.113.5" && got != "10.0.0.7" {
			t.Errorf("Forwarded: want what the proxy said or the proxy, got %s", got)
		}
		// And where it appends nothing, there is still an address.
		for _, written := range []string{"Forwarded", "X-Forwarded-For"} {
			if got := client(t, proxies, written, "10.0.0.7:1", "Forwarded", forwarded, "X-Forwarded-For", before); got == "invalid IP" {
				t.Errorf("%s: want an address, got none", written)
			}
		}
	})
}
