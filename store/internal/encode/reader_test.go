package encode_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit/store/internal/encode"
)

// TestUnreadable holds that what this package has not written is refused, not
// guessed at.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `null`, `[]`, `{`, `{}x`, `{"title"}`, `{"title":}`, `{"title":1}`, `{"title":null}`, `{"title":"x",}`, `{"title":"x" "reason":"y"}`,
		`{"TITLE":"x"}`, `{"unheard":"of"}`, `{"level":256}`, `{"level":-1}`, `{"level":1.5}`, `{"level":"1"}`, `{"quorum":9223372036854775808}`,
		`{"key":"c2hvcnQ="}`, `{"key":"!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!="}`, `{"key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, `{"summary":"!"}`,
		`{"requester":{"roles":{}}}`, `{"requester":{"roles":[1]}}`, `{"requester":{"roles":["a"`, `{"requester":{"unscoped":null}}`, `{"requester":{"unscoped":1}}`,
		`{"requester":{"expires":"tomorrow"}}`, `{"requester":{"claims":{}}}`, `{"agent":{"level":256}}`, `{"agent":{"name":"x"}}`,
	} {
		if p, err := encode.ParseProposal([]byte(text)); err == nil {
			t.Errorf("a proposal was read from %s: %v", text, p)
		}
	}
	for _, text := range []string{`null`, `{}`, `[null]`, `[{}`, `[{},]`, `[{}]x`, `[{"verdict":256}]`, `[{"unheard":"of"}]`} {
		if list, err := encode.ParseDecisions([]byte(text)); err == nil {
			t.Errorf("decisions were read from %s: %v", text, list)
		}
	}
}

// FuzzParseProposal holds that whatever is read means what is written of it.
func FuzzParseProposal(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"title":"\u00e9 \"x\"", "level": 2, "run":18446744073709551615,"decideWithin":-1}`,
		`{"requester":{"subject":"a","scopes":[],"roles":["b","c"],"unscoped":true,"expires":"2100-01-02T03:04:05.000006Z"},"agent":{"url":"u","key":"k","level":3}}`,
		`{"key":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=","summary":"c2VhbGVk"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := encode.ParseProposal(text)
		if err != nil {
			return
		}
		written, err := encode.Proposal(p)
		if err != nil {
			t.Skip(err) // a year that has five digits can be read and not be written
		}
		again, err := encode.ParseProposal(written)
		if err != nil {
			t.Fatalf("%s was written as %s: %v", text, written, err)
		}
		if len(p.Summary) == 0 {
			p.Summary = again.Summary // nothing is written of none
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("%s (-first +again):\n%s", text, diff)
		}
	})
}
