package ambittest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/ambittest"
)

func TestCallByName(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	for _, way := range ambittest.Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			c := h.In(t).As(planner).Over(way)
			answer := c.Call("plan.make", `{"title":"trip","steps":3}`)
			if diff := cmp.Diff(`{"title":"trip","steps":["step 1","step 2","step 3"]}`, answer.OK()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			progress := []ambit.Progress{
				{Done: 1, Total: 3, Message: "thinking"}, {Done: 2, Total: 3, Message: "thinking"}, {Done: 3, Total: 3, Message: "thinking"},
			}
			status := http.StatusOK
			switch way {
			case ambittest.HTTP:
				progress = nil
			case ambittest.InProcess, ambittest.CommandLine:
				status = 0
			}
			if diff := cmp.Diff(progress, answer.Progress); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
			if status != answer.Status || (status == 0) != (answer.Header == nil && answer.Body == nil) {
				t.Errorf("want status %d, got %d, header %v, body %s", status, answer.Status, answer.Header, answer.Body)
			}
			if diff := cmp.Diff(`"Hello"`, c.Call("hello", "").OK()); diff != "" {
				t.Errorf("string output (-want +got):\n%s", diff)
			}
			c.Call("nothing.here", `{}`).Refused(ambit.CodeNotFound)
			invalid := c.Call("plan.make", `{"title":""}`).Refused(ambit.CodeInvalidInput)
			if want := "/title"; invalid.Field != want {
				t.Errorf("field: want %q, got %q", want, invalid.Field)
			}
		})
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	tests := []struct {
		as   *ambit.Principal
		way  ambittest.Way
		want []string
	}{
		{planner, ambittest.InProcess, []string{"hello", "inside", "plan.make"}},
		{planner, ambittest.CommandLine, []string{"hello", "inside", "plan.make"}},
		{planner, ambittest.HTTP, []string{"hello", "plan.make"}},
		{planner, ambittest.MCP, []string{"hello", "plan.make"}},
		{planner, ambittest.MCP2025, []string{"hello", "plan.make"}},
		{ambittest.Agent("robbie"), ambittest.MCP, []string{"hello"}},
		{ambittest.Anonymous(), ambittest.InProcess, []string{"hello"}},
	}
	for _, test := range tests {
		t.Run(test.as.Subject+" "+test.way.String(), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, h.In(t).As(test.as).Over(test.way).Listed()); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListedPages lists more than one page on every way in.
func TestListedPages(t *testing.T) {
	t.Parallel()
	app := newApp(ambit.Options{})
	want := []string{"hello", "inside", "plan.make"}
	for i := range 2 * ambit.DefaultPage {
		name := "z" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		want = append(want, name)
		app.Add(ambit.Define(ambit.Spec{
			Name: name, Description: "One of many.", Effect: ambit.Read, Permission: ambit.Public, Expose: ambit.HTTP | ambit.MCP,
		}, sayHello))
	}
	h := ambittest.New(t, app)
	for _, way := range ambittest.Ways() {
		expected := want
		if way.Surface() != ambit.InProcess && way.Surface() != ambit.CommandLine {
			expected = append([]string{"hello"}, want[2:]...)
		}
		if diff := cmp.Diff(expected, h.As(planner).Over(way).Listed()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way, diff)
		}
	}
}

// TestAnonymous holds that a caller without a credential is challenged where
// there are authenticators, and served what is public where there are none.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	guarded := h.As(ambittest.Anonymous())
	for _, way := range []ambittest.Way{ambittest.MCP, ambittest.MCP2025} {
		answer := guarded.Over(way).Call("hello", "")
		answer.Refused(ambit.CodeUnauthenticated)
		if want := "Test"; answer.Header.Get("WWW-Authenticate") != want {
			t.Errorf("%s: challenge: want %q, got %q", way, want, answer.Header.Get("WWW-Authenticate"))
		}
	}
	open := h.Open().As(ambittest.Anonymous())
	for _, way := range ambittest.Ways() {
		if want, got := `"Hello"`, open.Over(way).Call("hello", "").OK(); want != got {
			t.Errorf("%s: want %s, got %s", way, want, got)
		}
		open.Over(way).Call("plan.make", `{"title":"trip"}`).Refused(ambit.CodeUnauthenticated)
	}
}

func TestAnswerHasTheWholeHTTPAnswer(t *testing.T) {
	t.Parallel()
	h := ambittest.New(t, newApp(ambit.Options{}))
	answer := h.As(planner).Over(ambittest.HTTP).Call("hello", "{}")
	var body struct{ Data json.RawMessage }
	if err := json.Unmarshal(answer.Body, &body); err != nil {
		t.Fatal(err)
	}
	if want := "no-store"; answer.Header.Get("Cache-Control") != want || string(body.Data) != answer.OK() {
		t.Errorf("want Cache-Control %q and data %s, got %v and %s", want, answer.OK(), answer.Header, answer.Body)
	}
}
