package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// probes are requests for one path that a curious caller might send.
func probes(path, authorization string) []*http.Request {
	var all []*http.Request
	add := func(method, body, contentType, accept string) {
		r := httptest.NewRequest(method, "http://localhost/api/"+path, strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": contentType, "Accept": accept, "Authorization": authorization, "X-Request-Id": "test"} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		all = append(all, r)
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "QUERY", "post"} {
		add(method, "", "", "")
	}
	for _, contentType := range []string{"", "text/plain", "application/json", "application/x-www-form-urlencoded", "multipart/form-data"} {
		for _, accept := range []string{"", "text/html", "application/json"} {
			add("POST", "", contentType, accept)
			add("POST", "{}", contentType, accept)
			add("POST", "{", contentType, accept)
		}
	}
	add("POST", `"`+strings.Repeat("a", trust.MaxAnonymousBody)+`"`, "application/json", "")
	add("POST", `"`+strings.Repeat("a", ambit.DefaultMaxInput)+`"`, "application/json", "")
	key := httptest.NewRequest("POST", "http://localhost/api/"+path+"?a=b", nil)
	all = append(all, key)
	for _, header := range []string{"Idempotency-Key", "Ambit-Reason"} {
		r := httptest.NewRequest("POST", "http://localhost/api/"+path, nil)
		r.Header["Authorization"], r.Header[header] = []string{authorization}, []string{"a", "b"}
		all = append(all, r)
	}
	for _, r := range all {
		r.Header.Set("X-Request-Id", "test")
		if authorization == "" {
			r.Header.Del("Authorization")
		}
	}
	return all
}

// TestT07_UnknownIsUnknown compares what is there and may not be known of with
// what is not there at all, whatever is asked and whoever asks. The two names
// are of one length, so that not even Content-Length may differ.
func TestT07_UnknownIsUnknown(t *testing.T) {
	t.Parallel()
	for _, authorization := range []string{"", "Test guest", "Test editor"} {
		for _, o := range []struct {
			name   string
			people bool
		}{{"with authenticators", true}, {"open", false}} {
			if !o.people && authorization != "" {
				continue
			}
			t.Run(o.name+" "+authorization, func(t *testing.T) {
				t.Parallel()
				options := openToAll()
				if o.people {
					options = withPeople()
				}
				api := newAPI(t, fixture(ambit.Options{}), options)
				pairs := [][2]string{{"hidden/job", "absent/job"}, {"hidden.job", "absent.job"}}
				for _, pair := range pairs {
					known, unknown := probes(pair[0], authorization), probes(pair[1], authorization)
					for i := range known {
						what := fmt.Sprintf("%s %s, probe %d", known[i].Method, pair[0], i)
						want := strings.ReplaceAll(text(api, unknown[i]), "absent", "hidden")
						if diff := cmp.Diff(want, text(api, known[i])); diff != "" {
							t.Errorf("%s: the answer tells that it is there (-absent +hidden):\n%s", what, diff)
						}
					}
				}
			})
		}
	}
}

func text(api http.Handler, r *http.Request) string {
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, r)
	return render(recorder)
}

// TestT07_HiddenForbiddenIsUnknown: where a missing permission hides, a path that
// is forbidden answers as one at which nothing is, and gives no name away.
func TestT07_HiddenForbiddenIsUnknown(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{HideForbidden: true}), withPeople())
	for there, absent := range map[string]string{
		"notes/create": "notes/crXXte", "large": "lXXge", "scoped": "sXXped", "notes/purge": "notes/puXXe",
	} {
		forbidden, unknown := probes(there, "Test guest"), probes(absent, "Test guest")
		for i := range forbidden {
			want := strings.ReplaceAll(text(api, unknown[i]), absent, there)
			if diff := cmp.Diff(want, text(api, forbidden[i])); diff != "" {
				t.Errorf("%s %s, probe %d: the answer tells that it is there (-absent +forbidden):\n%s", forbidden[i].Method, there, i, diff)
			}
		}
	}
}

// TestT07_WhereItIs: a name in place of a path is answered with the path, to those
// who may call it and to nobody else.
func TestT07_WhereItIs(t *testing.T) {
	t.Parallel()
	options := withPeople()
	options.Prefix = "/v2/"
	for _, test := range []struct {
		name, path, authorization string
		want                      string
	}{
		{"may call it", "notes.create", "Test editor", "It is at /v2/notes/create."},
		{"at a path of its own", "own", "Test editor", "It is at /v2/v1.0/Own-Path."},
		{"may not call it", "notes.create", "Test guest", ""},
		{"not on this surface", "hidden.job", "Test editor", ""},
		{"not there", "absent.job", "Test editor", ""},
		{"without a credential", "notes.create", "", ""},
	} {
		recorder := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://localhost/v2/"+test.path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		if test.authorization != "" {
			r.Header.Set("Authorization", test.authorization)
		}
		newAPI(t, fixture(ambit.Options{HideForbidden: true}), options).ServeHTTP(recorder, r)
		_, hint, _ := strings.Cut(recorder.Body.String(), "It is at ")
		hint, _, _ = strings.Cut(hint, `"`)
		if want := strings.TrimPrefix(test.want, "It is at "); hint != want || test.want != "" && recorder.Code != http.StatusNotFound {
			t.Errorf("%s: want %q, got %d %s", test.name, test.want, recorder.Code, recorder.Body.String())
		}
	}
}

// TestT07_AlikeBeforeTheName: what is decided before the capability is looked
// up is decided alike for those that may be called, too.
func TestT07_AlikeBeforeTheName(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	there, absent := probes("notes/create", "Test editor"), probes("nobod/create", "Test editor")
	compared := 0
	for i := range there {
		want := httptest.NewRecorder()
		api.ServeHTTP(want, absent[i])
		switch want.Code {
		case 204, 405, 406, 413, 415:
			compared++
			if diff := cmp.Diff(render(want), text(api, there[i])); diff != "" {
				t.Errorf("%s, probe %d (-absent +there):\n%s", there[i].Method, i, diff)
			}
		}
	}
	if compared < 20 {
		t.Errorf("comparisons: want at least 20, got %d", compared)
	}
}

// TestT02_ChallengeForEveryName: a caller without a credential gets one and the
// same answer for all that it may not call, and its body is not read.
func TestT02_ChallengeForEveryName(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	want := "401\nAccess-Control-Expose-Headers: WWW-Authenticate\nCache-Control: no-store\nContent-Length: 124\nContent-Type: application/json\nWww-Authenticate: Test realm=\"people\"\n" +
		"X-Content-Type-Options: nosniff\nX-Request-Id: test\n\n{\"ok\":false,\"error\":{\"code\":\"unauthenticated\",\"message\":\"This needs a credential.\",\"hint\":\"Send Authorization: Test NAME.\"}}\n"
	for _, path := range []string{"me", "notes/search", "notes/purge", "scoped", "hidden/job", "no/such", "large", "x"} {
		r := httptest.NewRequest("POST", "http://localhost/api/"+path, unread{t})
		r.Header.Set("X-Request-Id", "test")
		if diff := cmp.Diff(want, text(api, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestT02_ChallengeRatherThanAnEmptyList: a list of nothing would tell a client
// that there is nothing, rather than that it has to say who it is.
func TestT02_ChallengeRatherThanAnEmptyList(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "private"})
	app.Add(ambit.Define(spec("me", ambit.Read, ambit.Authenticated), func(context.Context, ambit.Empty) (ambit.Empty, error) { return ambit.Empty{}, nil }))
	api := newAPI(t, app, withPeople())
	for _, query := range []string{"", "?limit=1", "?cursor=AAAA"} {
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, httptest.NewRequest("GET", "http://localhost/api/"+query, nil))
		if recorder.Code != http.StatusUnauthorized || recorder.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("list%s without a credential: want 401 and a challenge, got\n%s", query, render(recorder))
		}
	}
}

func TestT25_BodiesAreBounded(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	body := func(n int) string { return `{"query":"a","extra":"` + strings.Repeat("x", n) + `"}` }
	tests := []struct {
		name, path, who, body string
		want                  int
	}{
		{"within the application's bound", "notes/search", "editor", body(ambit.DefaultMaxInput - 100), 200},
		{"beyond it", "notes/search", "editor", body(ambit.DefaultMaxInput), 413},
		{"within a capability's own", "large", "editor", body(3 << 20), 200},
		{"beyond that", "large", "editor", body(4 << 20), 413},
		{"a capability's own, for one who may not call it", "large", "guest", body(3 << 20), 413},
		{"anonymous", "greet", "", `{` + strings.Repeat(" ", trust.MaxAnonymousBody-2) + `}`, 200},
		{"anonymous, beyond", "greet", "", `{` + strings.Repeat(" ", trust.MaxAnonymousBody) + `}`, 413},
	}
	for _, tt := range tests {
		for _, declared := range []bool{true, false} {
			r := httptest.NewRequest("POST", "http://localhost/api/"+tt.path, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			if tt.who != "" {
				r.Header.Set("Authorization", "Test "+tt.who)
			}
			if !declared {
				r.ContentLength = -1
			}
			recorder := httptest.NewRecorder()
			api.ServeHTTP(recorder, r)
			if recorder.Code != tt.want {
				t.Errorf("%s, length declared %v: want %d, got\n%.300s", tt.name, declared, tt.want, render(recorder))
			}
		}
	}
}

func TestT25_RefusedBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	for name, adjust := range map[string]func(*http.Request){
		"host":                 func(r *http.Request) { r.Host = "evil.example" },
		"origin":               func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"credential":           func(r *http.Request) { r.Header.Set("Authorization", "Test mallory") },
		"path":                 func(r *http.Request) { r.URL.Path = "/other" },
		"method":               func(r *http.Request) { r.Method = "PUT" },
		"media type":           func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"length":               func(r *http.Request) { r.ContentLength = trust.MaxAnonymousBody + 1 },
		"more than one reason": func(r *http.Request) { r.Header["Ambit-Reason"] = []string{"a", "b"} },
	} {
		r := httptest.NewRequest("POST", "http://localhost/api/greet", unread{t})
		r.Header.Set("Content-Type", "application/json")
		adjust(r)
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, r)
		if recorder.Code < 400 {
			t.Errorf("%s: want a refusal, got\n%s", name, render(recorder))
		}
	}
}

// TestT28_PagesOfOtherOrigins: what a browser sends on behalf of another page is
// refused, whatever form it can give it without asking first.
func TestT28_PagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	api := newAPI(t, fixture(ambit.Options{}), withPeople())
	forms := []string{"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}
	for _, method := range []string{"GET", "POST", "HEAD", "OPTIONS"} {
		for _, path := range []string{"greet", "", "no/such"} {
			for _, header := range [][2]string{
				{"Origin", "https://evil.example"},
				{"Origin", "null"},
				{"Sec-Fetch-Site", "cross-site"},
				{"Sec-Fetch-Site", "same-site"},
				{"Host", "evil.example"},
			} {
				r := httptest.NewRequest(method, "http://localhost/api/"+path, unread{t})
				r.Header.Set("Cookie", "session=1")
				r.Header.Set("Content-Type", forms[len(path)%len(forms)])
				if header[0] == "Host" {
					r.Host = header[1]
				} else {
					r.Header.Set(header[0], header[1])
				}
				recorder := httptest.NewRecorder()
				api.ServeHTTP(recorder, r)
				answer := recorder.Header()
				if recorder.Code != http.StatusForbidden || answer.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s /api/%s with %v: want 403 and no CORS, got\n%s", method, path, header, render(recorder))
				}
			}
		}
	}
	for _, form := range forms {
		r := httptest.NewRequest("POST", "http://localhost/api/greet", strings.NewReader("{}"))
		r.Header.Set("Content-Type", form)
		r.Header.Set("Origin", "http://localhost")
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, r)
		if recorder.Code != http.StatusUnsupportedMediaType {
			t.Errorf("an own page's body of type %s: want 415, got\n%s", form, render(recorder))
		}
	}
}
