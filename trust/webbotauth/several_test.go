package webbotauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// fields are the values of Signature-Input and Signature.
type fields struct{ input, signature string }

func (f fields) and(other fields) fields {
	return fields{f.input + ", " + other.input, f.signature + ", " + other.signature}
}

// twice signs one request with two keys, as an agent does that changes its key,
// and returns it with both signatures and with each alone.
func twice(t *testing.T, keys [2]webbotauth.PrivateKey, levels [2]ambit.AgentLevel) (with func(fields) *http.Request, body []byte, each [2]fields) {
	t.Helper()
	var at *http.Request
	for i, label := range []string{"sig1=", "sig2="} {
		r := outgoing(t, "POST", "https://app.test/api/x", "{}")
		if err := signer(t, keys[i], levels[i]).Sign(r); err != nil {
			t.Fatal(err)
		}
		each[i] = fields{
			label + strings.TrimPrefix(r.Header.Get("Signature-Input"), "sig1="),
			label + strings.TrimPrefix(r.Header.Get("Signature"), "sig1="),
		}
		at, body = arrive(t, r)
	}
	return func(f fields) *http.Request {
		r := at.Clone(at.Context())
		r.Header.Set("Signature-Input", f.input)
		r.Header.Set("Signature", f.signature)
		return r
	}, body, each
}

// A request that was signed twice for once happens once: whoever sees it cannot
// send it again with one of the signatures.
func TestT31_OnceWithTwoSignatures(t *testing.T) {
	once, used := verdict{agentID, "once", "verified"}, verdict{"", "none", "invalid/replayed"}
	for _, test := range []struct {
		name  string
		sends func(first, second fields) []fields
		want  []verdict
	}{
		{"both, then each", func(a, b fields) []fields { return []fields{a.and(b), a.and(b), b, a} }, []verdict{once, used, used, used}},
		{"the second, then both", func(a, b fields) []fields { return []fields{b, a.and(b), a} }, []verdict{once, used, used}},
	} {
		t.Run(test.name, func(t *testing.T) {
			keys := [2]webbotauth.PrivateKey{webbotauth.GenerateKey(), webbotauth.GenerateKey()}
			v := verifier(t, keys[0], func(o *webbotauth.Options) { o.Agents[0].Keys = append(o.Agents[0].Keys, keys[1].Public()) })
			with, body, each := twice(t, keys, [2]ambit.AgentLevel{ambit.AgentOnce, ambit.AgentOnce})
			var got []verdict
			for _, f := range test.sends(each[0], each[1]) {
				got = append(got, judge(t, v, with(f), body))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What uses a nonce up is a signature that holds: nobody uses up another's by
// adding to a request what is not theirs.
func TestT31_NonceOfAForgedSignatureIsNotUsed(t *testing.T) {
	keys := [2]webbotauth.PrivateKey{webbotauth.GenerateKey(), webbotauth.GenerateKey()}
	v := verifier(t, keys[0], func(o *webbotauth.Options) { o.Agents[0].Keys = append(o.Agents[0].Keys, keys[1].Public()) })
	with, body, each := twice(t, keys, [2]ambit.AgentLevel{ambit.AgentOnce, ambit.AgentOnce})
	forged := each[0].and(fields{each[1].input, "sig2=:" + strings.Repeat("A", 86) + "==:"})
	if got := judge(t, v, with(forged), body); got.Level != "once" {
		t.Errorf("with a forged signature beside it: %+v", got)
	}
	if got := judge(t, v, with(each[1]), body); got.Level != "once" {
		t.Errorf("the second signature alone: %+v", got)
	}
}
