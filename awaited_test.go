package ambit_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// What a call waits for reaches a Go client as it was.
func TestAwaitedInJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		in   ambit.Awaited
		want string
	}{
		{
			"a confirmation",
			ambit.Awaited{ID: "p1", Level: ambit.Confirm, Token: "t", Expires: at, Preview: json.RawMessage(`{"summary":"Delete 3 notes"}`)},
			`{"id":"p1","level":"confirm","state":"pending","token":"t","expires":"2026-12-01T09:30:00Z","preview":{"summary":"Delete 3 notes"}}`,
		},
		{
			"a decision",
			ambit.Awaited{ID: "p2", Level: ambit.FourEyes, DecideBy: at, URL: "https://app.example/approvals/p2"},
			`{"id":"p2","level":"four-eyes","state":"pending","decideBy":"2026-12-01T09:30:00Z","url":"https://app.example/approvals/p2"}`,
		},
		{
			"a denial",
			ambit.Awaited{ID: "p3", Level: ambit.Human, State: ambit.ProposalDenied, Reason: "not this week"},
			`{"id":"p3","level":"human","state":"denied","reason":"not this week"}`,
		},
	} {
		text, err := json.Marshal(&ambit.Error{Code: ambit.CodeConflict, Approval: &test.in})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(`{"code":"conflict","message":"","approval":`+test.want+`}`, string(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		var got ambit.Error
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&test.in, got.Approval); diff != "" {
			t.Errorf("%s, read again (-want +got):\n%s", test.name, diff)
		}
	}
	if err := json.Unmarshal([]byte(`{"approval":{"expires":7}}`), new(ambit.Error)); err == nil {
		t.Error("want an error of a time that is none")
	}
}
