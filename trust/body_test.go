package trust_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

func TestT25_Body(t *testing.T) {
	t.Parallel()
	alice := identity("alice")
	anonymous := &trust.Identity{Principal: &ambit.Principal{Kind: ambit.KindAnonymous}}
	const unknown = -1
	big := strings.Repeat("a", trust.MaxAnonymousBody)
	tests := []struct {
		name   string
		who    *trust.Identity
		body   io.Reader
		length int64
		limit  int
		want   string
		code   ambit.Code
	}{
		{"none", alice, http.NoBody, 0, 10, "", ""},
		{"declared", alice, strings.NewReader("hello"), 5, 10, "hello", ""},
		{"declared, in small parts", alice, iotest.OneByteReader(strings.NewReader("hello")), 5, 10, "hello", ""},
		{"up to the limit", alice, strings.NewReader("0123456789"), 10, 10, "0123456789", ""},
		{"declared beyond the limit, unread", alice, iotest.ErrReader(errors.New("was read")), 11, 10, "", ambit.CodeInputTooLarge},
		{"of unknown length", alice, strings.NewReader("hello"), unknown, 10, "hello", ""},
		{"of unknown length, in small parts", alice, iotest.OneByteReader(strings.NewReader("hello")), unknown, 10, "hello", ""},
		{"of unknown length up to the limit", alice, strings.NewReader("0123456789"), unknown, 10, "0123456789", ""},
		{"of unknown length beyond the limit", alice, strings.NewReader("0123456789a"), unknown, 10, "", ambit.CodeInputTooLarge},
		{"much of unknown length", alice, strings.NewReader(big + big), unknown, 1 << 20, big + big, ""},
		{"ends early", alice, strings.NewReader("hel"), 5, 10, "", ambit.CodeInvalidInput},
		{"of unknown length, breaks off", alice, io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(io.ErrUnexpectedEOF)), unknown, 10, "", ambit.CodeInvalidInput},
		{"too slow", alice, iotest.ErrReader(os.ErrDeadlineExceeded), 5, 10, "", ambit.CodeInvalidInput},
		{"anonymous", anonymous, strings.NewReader(big), int64(len(big)), 1 << 20, big, ""},
		{"anonymous, declared beyond", anonymous, strings.NewReader(big + "a"), int64(len(big) + 1), 1 << 20, "", ambit.CodeInputTooLarge},
		{"anonymous, beyond", anonymous, strings.NewReader(big + "a"), unknown, 1 << 20, "", ambit.CodeInputTooLarge},
		{"anonymous, with a smaller limit", anonymous, strings.NewReader("hello"), unknown, 4, "", ambit.CodeInputTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.Body, r.ContentLength = io.NopCloser(tt.body), tt.length
			got, refused := trust.ReadBody(httptest.NewRecorder(), r, tt.who, []byte("before:"), tt.limit)
			if diff := cmp.Diff("before:"+tt.want, string(got)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.code, codeOf(refused)); diff != "" {
				t.Errorf("code (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBodyOfAClientThatHasGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	r.Body, r.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("connection reset"))), 5
	cancel()
	_, refused := trust.ReadBody(httptest.NewRecorder(), r, identity("alice"), nil, 10)
	if diff := cmp.Diff(ambit.CodeCanceled, codeOf(refused)); diff != "" {
		t.Errorf("code (-want +got):\n%s", diff)
	}
}
