package trust_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ambit-dev/ambit/trust"
)

// publisher answers one path itself.
type publisher struct{ trust.Authenticator }

func (publisher) Front(r *http.Request) http.Handler {
	if r.URL.Path != "/document" {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
}

func TestFront(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	handler, err := trust.Front(trust.Options{PublicURL: "https://notes.example.com", Authenticators: []trust.Authenticator{publisher{}}}, next)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, url string
		want      int
	}{
		{"the authenticator's own", "https://notes.example.com/document", http.StatusTeapot},
		{"by a local name", "http://localhost:8080/document", http.StatusTeapot},
		{"by a name that is not listed", "https://elsewhere.example.com/document", http.StatusForbidden},
		{"another path", "https://notes.example.com/documents", http.StatusNoContent},
		{"another path, by a name that is not listed", "https://elsewhere.example.com/", http.StatusNoContent}, // which next judges
	} {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, test.url, nil))
			if w.Code != test.want {
				t.Errorf("want %d, got %d", test.want, w.Code)
			}
		})
	}
	if _, err := trust.Front(trust.Options{Hosts: []string{"no host"}, Authenticators: []trust.Authenticator{publisher{}}}, next); err == nil {
		t.Error("want an error for a host that is none")
	}
}
