package audit_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ambit-dev/ambit/trust/audit"
)

// An entry is a line of JSON and comes back from it to the byte, so that what was
// exported can be verified.
func TestEntryComesBackFromItsLine(t *testing.T) {
	t.Parallel()
	list, _ := written(t, 1)
	at := time.Date(2026, 12, 1, 4, 5, 6, 7000, time.UTC)
	for name, e := range map[string]audit.Entry{
		"an intent":               list[0],
		"markup and an input":     {Tenant: "a<b", Writer: "W", Seq: 1, Time: at, Kind: "call", Body: []byte(`{"kind":"call","input":{"a":"<&>","b":"\u2028"}}`), MAC: []byte{1}},
		"an altered column":       {Writer: "W", Seq: 1, Time: at, Kind: "call", Principal: "p", Body: []byte(`{"kind":"refusal"}`)},
		"a body that is none":     {Writer: "W", Seq: 1, Time: at, Kind: "call", Body: []byte("\xff\n")},
		"a body of several lines": {Writer: "W", Seq: 1, Time: at, Kind: "call", Body: []byte("{\n}")},
		"no body":                 {Writer: "W", Seq: 1<<64 - 1, Time: at},
	} {
		line := e.AppendJSON(nil)
		if bytes.ContainsAny(line, "\r\n") {
			t.Errorf("%s: more than a line: %q", name, line)
		}
		got, err := audit.ParseEntry(line)
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, line)
		}
		if diff := cmp.Diff(e, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is no entry is refused.
func TestParseEntryRefuses(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		``, `null`, `[]`, `{}`, `{"writer":"W"}`, `{"body":{},"rawBody":""}`, `{"body":{},"more":1}`, `{"body":{}} {}`, `{"body":[]}`, `{"seq":-1,"body":{}}`, `{"time":"now","body":{}}`,
	} {
		if e, err := audit.ParseEntry([]byte(line)); err == nil {
			t.Errorf("%s: want an error, got %+v", line, e)
		}
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add([]byte(`{"tenant":"acme","writer":"W","seq":1,"time":"2026-12-01T04:05:06.000007Z","body":{"kind":"gap","gap":{"reads":1,"since":"2026-12-01T04:05:06Z","until":"2026-12-01T04:05:06Z"}},"mac":"AQ=="}`))
	f.Add([]byte(`{"writer":"W","seq":2,"time":"2026-12-01T04:05:06Z","rawBody":"/w==","columns":{"kind":"call"},"mac":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := audit.ParseEntry(line)
		if err != nil {
			return
		}
		again, err := audit.ParseEntry(e.AppendJSON(nil))
		if err != nil {
			t.Fatalf("%s: what was written cannot be read: %v", e.AppendJSON(nil), err)
		}
		if diff := cmp.Diff(e, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func FuzzReadCheckpoints(f *testing.F) {
	f.Add([]byte("{\"tenant\":\"acme\",\"writer\":\"W\",\"seq\":1,\"mac\":\"AQ==\",\"time\":\"2026-12-01T04:05:06Z\",\"signature\":\"AQ==\"}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := audit.ReadCheckpoints(bytes.NewReader(text))
		if lines := bytes.Count(text, []byte("\n")); err == nil && len(list) > lines {
			t.Fatalf("%d checkpoints from %d lines", len(list), lines)
		}
		for _, c := range list {
			if c.Writer == "" || c.Seq == 0 || c.Signed(nil) {
				t.Fatalf("want no such checkpoint: %+v", c)
			}
		}
	})
}

// A body can be read by what it was written with, and by later versions of it.
func TestRecordPassesOverWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	r, err := audit.Entry{Body: []byte(`{"kind":"call","later":[1]}`)}.Record()
	if err != nil || r.Kind != "call" {
		t.Errorf("want a call, got %+v, %v", r, err)
	}
	if _, err := (audit.Entry{Writer: "W", Seq: 3, Body: []byte(`no`)}).Record(); err == nil || !strings.Contains(err.Error(), "entry 3 of W") {
		t.Errorf("want an error that names the entry, got %v", err)
	}
}
