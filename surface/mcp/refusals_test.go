package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit"
)

// An address whose requests were refused too often is told how long to wait, in
// the header that HTTP has for it, without its body being read.
func TestT25_RefusedAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := withPeople()
		options.Trust.Refusals = ambit.Rate{Calls: 1, Per: time.Hour}
		server := newServer(t, fixture(ambit.Options{}), options)
		var last string
		for range 2 {
			last = sent(server, httptest.NewRequest(http.MethodPost, "http://localhost/mcp", unread{t}))
		}
		for _, want := range []string{"429\n", "Retry-After: 3600\n", `"code":"rate_limited"`} {
			if !strings.Contains(last, want) {
				t.Errorf("want %q in the answer, got:\n%s", want, last)
			}
		}
	})
}
