package approval_test

import (
	"net/http"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/approval"
)

// A form serves once, also where the decision that was made with it has been taken
// back because its person could not decide any more, and now can again.
func TestT12_AFormServesOnce(t *testing.T) {
	t.Parallel()
	s := newWebsite(t)
	alice, bob := s.person("alice"), s.person("bob")
	id := s.ask(alice, "notes.purge_both", "old")
	form := s.form(bob, id, approval.Approve)
	decisions := func() int {
		t.Helper()
		r, err := s.store.Get(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Decisions)
	}
	send := func(want int) {
		t.Helper()
		if w := s.send("POST", "/approvals/"+id, form.Encode(), session(bob, "1m")); w.StatusCode != want {
			t.Errorf("want status %d, got %d", want, w.StatusCode)
		}
	}
	send(http.StatusSeeOther)
	if n := decisions(); n != 1 {
		t.Fatalf("want a decision, got %d", n)
	}
	s.allow(bob, "notes:purge")
	s.ask(alice, "notes.purge_both", "old")
	if n := decisions(); n != 0 {
		t.Fatalf("want the decision taken back, got %d", n)
	}
	s.allow(bob, "notes:purge", ambit.DefaultDecidePermission)
	send(http.StatusConflict)
	if n := decisions(); n != 0 {
		t.Errorf("want no decision by a form that was used, got %d", n)
	}
}
