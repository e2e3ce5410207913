package trust_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit/trust"
)

func TestT11_RequestID(t *testing.T) {
	t.Parallel()
	random := regexp.MustCompile(`^[0-9a-f]{32}$`)
	tests := []struct {
		given []string
		kept  bool
	}{
		{[]string{"a"}, true},
		{[]string{"A-z_09"}, true},
		{[]string{strings.Repeat("a", 64)}, true},
		{[]string{strings.Repeat("a", 65)}, false},
		{nil, false},
		{[]string{""}, false},
		{[]string{"a b"}, false},
		{[]string{"a\nb"}, false},
		{[]string{"ä"}, false},
		{[]string{"a.b"}, false},
		{[]string{"one", "two"}, false},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header[trust.RequestIDHeader] = tt.given
		got := trust.RequestID(r)
		if tt.kept && got != tt.given[0] || !tt.kept && !random.MatchString(got) {
			t.Errorf("RequestID of %q: want kept %v, got %q", tt.given, tt.kept, got)
		}
		if again := trust.RequestID(r); !tt.kept && again == got {
			t.Errorf("RequestID of %q: want another random id, got %q twice", tt.given, got)
		}
	}
}
