package ambit_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// No text opens but what was sealed for the operation and the agent, and whatever was
// sealed is read without a panic: as what it is, or not at all. The keys are the same
// in every process, so that what one of them has sealed is a seed for all.
func FuzzConfirmation(f *testing.F) {
	ring, err := ambit.NewKeyRing(ambit.Key{Secret: bytes.Repeat([]byte{9}, ambit.MinKey)})
	if err != nil {
		f.Fatal(err)
	}
	sealer := ring.Sealer("confirm", "test")
	operation, agent := ambit.Digest{1}, ambit.AgentIdentity{Key: "k1"}
	bound := append(operation[:], agent.Key...)
	genuine := ambit.Confirmation{ID: "M4H7C747FRETVVUZVYLLPAZBZA", Preview: ambit.Digest{2}, Expires: time.UnixMilli(1_800_000_000_000)}
	token := ambit.SealConfirmation(sealer, genuine, operation, agent)
	if got, ok := ambit.OpenConfirmation(sealer, token, operation, agent); !ok || !cmp.Equal(genuine, got) {
		f.Fatalf("want %+v opened, got %+v, %t", genuine, got, ok)
	}
	plain := make([]byte, 8+len(genuine.Preview))
	for _, text := range []string{"", "a", "AAAA", token, token[1:], token + "A", token + "=", token[:20], token[:50] + token[40:], strings.ToLower(token), token + "\n"} {
		for _, content := range [][]byte{nil, plain[:7], plain, append(plain, 'a'), append(bytes.Repeat([]byte{0xFF}, 40), genuine.ID...)} {
			f.Add(text, content)
		}
	}
	f.Fuzz(func(t *testing.T, token string, plain []byte) {
		if len(token) > 200 || len(plain) > 80 { // of which there is nothing more to learn, and whose every byte the fuzzer would try to leave out
			return
		}
		if got, ok := ambit.OpenConfirmation(sealer, token, operation, agent); ok {
			sealed, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != token || !cmp.Equal(genuine, got) {
				t.Errorf("%q opens, as %+v", token, got)
			}
		}
		token = base64.RawURLEncoding.EncodeToString(sealer.Seal(nil, plain, bound))
		got, ok := ambit.OpenConfirmation(sealer, token, operation, agent)
		if want := len(plain) > 8+len(got.Preview); ok != want {
			t.Fatalf("%d bytes, sealed: want read %t, got %t", len(plain), want, ok)
		}
		if again := binary.BigEndian.AppendUint64(nil, uint64(got.Expires.UnixMilli())); ok && !bytes.Equal(plain, append(append(again, got.Preview[:]...), got.ID...)) {
			t.Errorf("%q is read as %+v", plain, got)
		}
		for _, other := range []struct {
			operation ambit.Digest
			agent     ambit.AgentIdentity
		}{{ambit.Digest{3}, agent}, {operation, ambit.AgentIdentity{Key: "k2"}}, {operation, ambit.AgentIdentity{}}} {
			if _, ok := ambit.OpenConfirmation(sealer, token, other.operation, other.agent); ok {
				t.Errorf("it opens for the operation %x of the agent %q", other.operation[:1], other.agent.Key)
			}
		}
	})
}

// What was sealed with the right keys for the right call and is of no proposal
// confirms nothing.
func TestT14_SealedAndOfNoProposal(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	_, asked := w.call(writer, ambit.HTTP, ambit.Request{})
	genuine, ok := ambit.OpenConfirmation(w.keys.Sealer("confirm", "test"), asked.Approval.Token, asked.Approval.Operation, ambit.AgentIdentity{})
	if !ok {
		t.Fatal("the token that was given out does not open")
	}
	for _, test := range []struct {
		name   string
		change func(*ambit.Confirmation)
		want   string
	}{
		{"another proposal", func(c *ambit.Confirmation) { c.ID = "M4H7C747FRETVVUZVYLLPAZBZA" }, `"confirmation_invalid"`},
		{"no name of a proposal", func(c *ambit.Confirmation) { c.ID = "\x00'; --" }, `"confirmation_invalid"`},
		{"another preview", func(c *ambit.Confirmation) { c.Preview[0]++ }, `"conflict"`},
		{"long expired", func(c *ambit.Confirmation) { c.Expires = time.UnixMilli(-1 << 62) }, "The confirmation has expired."},
		{"as it was", func(*ambit.Confirmation) {}, `{"text":"a 1"}`},
	} {
		c := genuine
		test.change(&c)
		text, _ := w.call(writer, ambit.HTTP, ambit.Request{
			Confirmation: ambit.SealConfirmation(w.keys.Sealer("confirm", "test"), c, asked.Approval.Operation, ambit.AgentIdentity{}),
		})
		is(t, test.name, test.want, text)
	}
}
