package audit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// What is on record of each sort of call, in the order in which it was written.
func TestT22_WhatIsRecorded(t *testing.T) {
	t.Parallel()
	base := func(kind, effect string, ran bool) audit.Record {
		r := audit.Record{
			Kind: kind, Tenant: "acme", Principal: robot.Key(), PrincipalKind: "agent", Capability: "notes." + effect, Effect: effect,
			Surface: "http", Via: "http", Run: "10", Call: "11", Ran: ran,
		}
		return r
	}
	for _, test := range []struct {
		name   string
		effect ambit.Effect
		key    ambit.Digest
		code   ambit.Code
		want   []audit.Record
	}{
		{"a read", ambit.Read, ambit.Digest{}, "", []audit.Record{base("call", "read", true)}},
		{"a write", ambit.Write, ambit.Digest{}, "", []audit.Record{base("call", "write", true)}},
		{"a keyed write", ambit.Write, ambit.Digest{1}, "", []audit.Record{base("call", "write", true)}},
		{"execution", ambit.Execute, ambit.Digest{}, "", []audit.Record{base("intent", "execute", false), base("outcome", "execute", true)}},
		{"an effect outside", ambit.External, ambit.Digest{1}, "", []audit.Record{base("intent", "external", false), base("outcome", "external", true)}},
		{"destruction that failed", ambit.Destructive, ambit.Digest{1}, ambit.CodeUpstream, []audit.Record{base("intent", "destructive", false), base("outcome", "destructive", true)}},
	} {
		store := memoryStore()
		log := newLog(t, store)
		if err := call(t.Context(), log, eventOf(test.effect), test.key, `{"id":1}`, func() ambit.Code { return test.code }); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		flush(t, log)
		for i := range test.want {
			if test.want[i].Ran {
				test.want[i].Code = string(test.code)
			}
		}
		got := bodies(t, store, "acme")
		if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(audit.Record{}, "Digest", "Key")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		for i, r := range got {
			if test.effect > ambit.Read && len(r.Digest) != 64 || r.Digest != got[0].Digest || (r.Key != "") != (test.key != ambit.Digest{}) {
				t.Errorf("%s: entry %d has the digest %q and the key %q", test.name, i, r.Digest, r.Key)
			}
		}
		verified(t, log, "acme")
	}
}

// A repetition that is answered from the record has an entry of its own and no
// intent, and a refusal one that says why.
func TestT22_RepetitionsAndRefusals(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store)
	for range 2 {
		if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{1}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
	}
	refuse(t.Context(), log, eventOf(ambit.Execute), ambit.CodeForbidden)
	flush(t, log)
	type short struct {
		Kind, Code    string
		Ran, Replayed bool
	}
	var got []short
	for _, r := range bodies(t, store, "acme") {
		got = append(got, short{r.Kind, r.Code, r.Ran, r.Replayed})
	}
	want := []short{{Kind: "intent"}, {Kind: "outcome", Ran: true}, {Kind: "call", Replayed: true}, {Kind: "refusal", Code: "forbidden"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Digests of one input are the same within a tenant and tell nothing across
// tenants, applications and keys.
func TestT22_DigestsAreKeyedPerTenant(t *testing.T) {
	t.Parallel()
	digest := func(tenant, application string, seed byte, input string) string {
		store := memoryStore()
		log := newLog(t, store, func(o *audit.Options) { o.Application, o.Keys = application, ringOf(t, seed) })
		e := eventOf(ambit.Write)
		e.Tenant = tenant
		if err := call(t.Context(), log, e, ambit.Digest{}, input, succeed); err != nil {
			t.Fatal(err)
		}
		flush(t, log)
		return bodies(t, store, tenant)[0].Digest
	}
	first := digest("acme", "test", 1, `{"id":1}`)
	if again := digest("acme", "test", 1, `{"id":1}`); again != first {
		t.Errorf("one input has two digests: %s and %s", first, again)
	}
	for name, other := range map[string]string{
		"another input": digest("acme", "test", 1, `{"id":2}`), "another tenant": digest("bolt", "test", 1, `{"id":1}`),
		"another application": digest("acme", "other", 1, `{"id":1}`), "another key": digest("acme", "test", 2, `{"id":1}`),
	} {
		if other == first {
			t.Errorf("%s has the same digest", name)
		}
	}
}

// The input itself is on record only where the capability lets it, and only up to
// a size.
func TestT22_InputsAreRecordedWhereAllowed(t *testing.T) {
	t.Parallel()
	store := memoryStore()
	log := newLog(t, store, func(o *audit.Options) { o.MaxInput = 10 })
	for _, allowed := range []bool{false, true} {
		for _, effect := range []ambit.Effect{ambit.Write, ambit.Execute} {
			for _, input := range []string{`{"id":1}`, `{"id":1000000}`} {
				e := eventOf(effect)
				e.RecordInput = allowed
				if err := call(t.Context(), log, e, ambit.Digest{}, input, succeed); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	flush(t, log)
	got := map[string]int{}
	for _, r := range bodies(t, store, "acme") {
		name := r.Kind + " " + string(r.Input)
		if r.InputOmitted {
			name += "omitted"
		}
		got[name]++
	}
	want := map[string]int{
		"call ": 2, "intent ": 2, "outcome ": 2,
		`call {"id":1}`: 1, `intent {"id":1}`: 1, `outcome {"id":1}`: 1, "call omitted": 1, "intent omitted": 1, "outcome omitted": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What cannot work is an error when the log is made.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	good := audit.Options{Keys: ringOf(t, 1), Application: "test"}
	for name, test := range map[string]struct {
		store audit.Store
		edit  func(*audit.Options)
		want  string
	}{
		"no store":       {nil, func(*audit.Options) {}, "audit: there is no store"},
		"no keys":        {memoryStore(), func(o *audit.Options) { o.Keys = nil }, "audit: Options.Keys is missing: give the log the application's key ring"},
		"no application": {memoryStore(), func(o *audit.Options) { o.Application = "" }, "audit: Options.Application is missing: give the log the application's name"},
		"a negative":     {memoryStore(), func(o *audit.Options) { o.Wait = -1 }, "audit: Options.Wait is negative: leave it zero for the default"},
	} {
		options := good
		test.edit(&options)
		if _, err := audit.New(test.store, options); err == nil || err.Error() != test.want {
			t.Errorf("%s: want %q, got %v", name, test.want, err)
		}
	}
}

// A log that is used as a ledger by an application that does not tell it of its
// calls refuses them, instead of losing their ends.
func TestLogHasToObserve(t *testing.T) {
	t.Parallel()
	log := newLog(t, memoryStore())
	if _, err := log.Claim(t.Context(), ambit.Claim{Intent: &ambit.Intent{Event: eventOf(ambit.Execute)}}); err == nil {
		t.Error("the claim was made")
	}
}
