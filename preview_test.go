package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

type purgeInput struct {
	Before   string `json:"before" doc:"What is older goes" maxLength:"20"`
	Password string `json:"password,omitempty" secret:"true"`
}

// purging is an application whose one capability deletes what its preview lists.
type purging struct {
	*ambit.App
	ring    *ambit.KeyRing
	preview func(context.Context, purgeInput) (ambit.Preview, error)
	last    ambit.Proposal
	resolve func(*ambit.Principal) *ambit.Principal
	allowed bool
}

// Propose keeps the proposal for the test.
func (p *purging) Propose(_ context.Context, proposal ambit.Proposal, _ ambit.Inquiry) (ambit.Standing, error) {
	p.last = proposal
	return ambit.Standing{ID: "p1", Level: proposal.Level, Operation: proposal.Binding.Operation(), Preview: proposal.Preview}, nil
}

func (p *purging) Answering(context.Context, ambit.Binding) (ambit.Standing, error) {
	return ambit.Standing{}, nil
}
func (p *purging) Consent(context.Context, ambit.Proposal, bool) error { return nil }
func (p *purging) Ledger() ambit.Ledger                                { return nothing{} }

// nothing is a ledger that holds nothing and claims everything.
type nothing struct{}

func (nothing) Find(context.Context, ambit.Claim) (ambit.Record, error) { return ambit.Record{}, nil }

func (nothing) Claim(context.Context, ambit.Claim) (ambit.Record, error) { return ambit.Record{}, nil }
func (nothing) Finish(context.Context, ambit.Claim, ambit.Ending) error  { return nil }
func (nothing) Release(context.Context, ambit.Claim) error               { return nil }

var boss = &ambit.Principal{Authority: "test", Subject: "boss", Permissions: []string{"purge", "approvals:decide"}, Unscoped: true}

func purgeSpec() ambit.Spec {
	return ambit.Spec{
		Name: "notes.purge", Title: "Purge notes", Description: "Delete notes for good.", Effect: ambit.Destructive, Permission: "purge",
		Expose: ambit.HTTP, Approval: ambit.Human,
	}
}

func threeNotes(context.Context, purgeInput) (ambit.Preview, error) {
	return ambit.Preview{Summary: "Delete 3 notes", Items: []ambit.PreviewItem{{ID: "1", Title: "One"}}, More: 2, Version: "v7"}, nil
}

// newPurging returns the application; more adds capabilities and options.
func newPurging(change func(*ambit.Options, *ambit.Spec), more ...ambit.AnyCapability) *purging {
	p := &purging{preview: threeNotes, ring: newRing(), allowed: true, resolve: func(p *ambit.Principal) *ambit.Principal { return p }}
	o, spec := ambit.Options{
		Keys: p.ring, Approver: p,
		Resolve: func(_ context.Context, who *ambit.Principal) (*ambit.Principal, error) { return p.resolve(who), nil },
	}, purgeSpec()
	if change != nil {
		change(&o, &spec)
	}
	c := ambit.Define(spec, func(context.Context, purgeInput) (ambit.Empty, error) { return ambit.Empty{}, nil }).
		WithPreview(func(ctx context.Context, in purgeInput) (ambit.Preview, error) { return p.preview(ctx, in) }).
		WithStatus(func(in purgeInput) string { return "Purge before " + in.Before }).
		WithAuthorizeInput(func(context.Context, purgeInput) error {
			if !p.allowed {
				return ambit.Errorf(ambit.CodeForbidden, "Not those.")
			}
			return nil
		})
	p.App = newApp(o, append(more, c)...)
	return p
}

// ask makes one call, so that there is a proposal.
func (p *purging) ask(t *testing.T) error {
	t.Helper()
	ctx, run := p.NewRun(t.Context(), ambit.RunOptions{Principal: boss, Surface: ambit.HTTP})
	defer run.End()
	_, err := run.Invoke(ctx, ambit.Request{Name: "notes.purge", Input: []byte(`{"before":"2020","password":"hunter22"}`), Reason: "too old"})
	return err
}

// The person who decides sees what there is now, complete, and no secret.
func TestT16_Review(t *testing.T) {
	t.Parallel()
	p := newPurging(nil)
	if got := ambit.CodeOf(p.ask(t)); got != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %q", got)
	}
	got, err := p.Review(t.Context(), p.last)
	if err != nil {
		t.Fatal(err)
	}
	want := ambit.Review{
		Capability: "notes.purge", Title: "Purge notes", Effect: ambit.Destructive, Status: "Purge before 2020",
		Description: "Delete notes for good.", Input: []byte(`{"before":"2020","password":"(secret)"}`),
		Preview: &ambit.Preview{Summary: "Delete 3 notes", Items: []ambit.PreviewItem{{ID: "1", Title: "One"}}, More: 2, Version: "v7"},
		Digest:  p.last.Preview, Version: "v7",
	}
	asked := got.Proposal
	if got.Proposal = (ambit.Proposal{}); !cmp.Equal(want, got) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	if asked.Input, asked.Summary = p.last.Input, p.last.Summary; !cmp.Equal(p.last, asked) {
		t.Errorf("the proposal as it would be asked now (-want +got):\n%s", cmp.Diff(p.last, asked))
	}
	if p.last.Preview == (ambit.Digest{}) || strings.Contains(string(p.last.Input), "2020") {
		t.Errorf("want a digest of the preview and a sealed input, got %x and %q", p.last.Preview, p.last.Input)
	}
	p.preview = func(context.Context, purgeInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: "Delete 4 notes"}, nil
	}
	if again, err := p.Review(t.Context(), p.last); err != nil || again.Digest == got.Digest {
		t.Errorf("want another digest for another preview, got %v", err)
	}
}

// Everything about the requester and the capability is asked again.
func TestT16_ReviewIsOfNow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*purging)
		want   ambit.Code
	}{
		{"nothing changed", func(*purging) {}, ""},
		{"its credential has ended", func(p *purging) {
			who := *boss
			who.Expires = time.Now().Add(-time.Hour)
			p.last.Requester = &who
		}, ""},
		{"the requester is gone", func(p *purging) { p.resolve = func(*ambit.Principal) *ambit.Principal { return nil } }, ambit.CodeForbidden},
		{"its permission is gone", func(p *purging) {
			p.resolve = func(*ambit.Principal) *ambit.Principal {
				who := *boss
				who.Permissions = nil
				return &who
			}
		}, ambit.CodeForbidden},
		{"the rule over the input says no", func(p *purging) { p.allowed = false }, ambit.CodeForbidden},
		{"another contract", func(p *purging) { p.last.Binding.Contract[0]++ }, ambit.CodeConflict},
		{"another capability", func(p *purging) { p.last.Binding.Capability = "notes.list" }, ambit.CodeConflict},
		{"an input that was exchanged", func(p *purging) { p.last.Input = append([]byte(nil), p.last.Input...); p.last.Input[20]++ }, ambit.CodeConflict},
		{"a requester who was exchanged", func(p *purging) { p.last.Requester = alice }, ambit.CodeConflict},
		{"a binding that was changed", func(p *purging) { p.last.Binding.Client = "other" }, ambit.CodeConflict},
		{"a preview that fails", func(p *purging) {
			p.preview = func(context.Context, purgeInput) (ambit.Preview, error) {
				return ambit.Preview{}, errors.New("no connection to db.internal")
			}
		}, ambit.CodeUpstream},
		{"a preview that panics", func(p *purging) {
			p.preview = func(context.Context, purgeInput) (ambit.Preview, error) { panic("oh") }
		}, ambit.CodeInternal},
	} {
		p := newPurging(nil)
		if got := ambit.CodeOf(p.ask(t)); got != ambit.CodeApprovalPending {
			t.Fatalf("want approval_pending, got %q", got)
		}
		test.change(p)
		_, err := p.Review(t.Context(), p.last)
		if got := ambit.CodeOf(err); got != test.want || err != nil && strings.Contains(err.Error(), "db.internal") {
			t.Errorf("%s: want %q, got %v", test.name, test.want, err)
		}
	}
}

// A release that makes another contract of the capability ends what was asked
// under the old one.
func TestT14_ReviewOfAnotherContract(t *testing.T) {
	t.Parallel()
	keys := newRing()
	before := newPurging(func(o *ambit.Options, _ *ambit.Spec) { o.Keys = keys })
	if got := ambit.CodeOf(before.ask(t)); got != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %q", got)
	}
	for revision, want := range map[string]ambit.Code{"": "", "2": ambit.CodeConflict} {
		after := newPurging(func(o *ambit.Options, s *ambit.Spec) { o.Keys, s.Revision = keys, revision })
		if _, err := after.Review(t.Context(), before.last); ambit.CodeOf(err) != want {
			t.Errorf("revision %q: want %q, got %v", revision, want, err)
		}
	}
}

// Nothing that runs by a call can review, and so decide.
func TestT12_ReviewIsNoCall(t *testing.T) {
	t.Parallel()
	p := newPurging(nil)
	_ = p.ask(t)
	ctx, run := p.NewRun(t.Context(), ambit.RunOptions{Principal: boss})
	defer run.End()
	if _, err := p.Review(ctx, p.last); ambit.CodeOf(err) != ambit.CodeNotFound {
		t.Errorf("want not_found, got %v", err)
	}
}

// A preview that is not one keeps the call from being asked about.
func TestT16_PreviewIsChecked(t *testing.T) {
	t.Parallel()
	write := ambit.NewContract[echoInput, echoOutput](func() ambit.Spec { s := writeSpec("touch"); s.Permission = ambit.Public; return s }())
	for _, test := range []struct {
		name    string
		preview func(context.Context, purgeInput) (ambit.Preview, error)
		want    ambit.Code
	}{
		{"as it should be", threeNotes, ambit.CodeApprovalPending},
		{"no summary", func(context.Context, purgeInput) (ambit.Preview, error) { return ambit.Preview{}, nil }, ambit.CodeInvalidOutput},
		{"too large", func(context.Context, purgeInput) (ambit.Preview, error) {
			return ambit.Preview{Summary: "a", Data: map[string]any{"a": strings.Repeat("a", ambit.MaxPreview)}}, nil
		}, ambit.CodeInvalidOutput},
		{"a secret", func(_ context.Context, in purgeInput) (ambit.Preview, error) {
			return ambit.Preview{Summary: "With " + in.Password}, nil
		}, ambit.CodeInvalidOutput},
		{"more than a read within", func(ctx context.Context, _ purgeInput) (ambit.Preview, error) {
			_, err := write.Call(ctx, echoInput{Text: "a"})
			return ambit.Preview{Summary: "a"}, err
		}, ambit.CodeInternal},
		{"a domain error", func(context.Context, purgeInput) (ambit.Preview, error) {
			return ambit.Preview{}, ambit.Errorf(ambit.CodeNotFound, "There are none.")
		}, ambit.CodeNotFound},
	} {
		p := newPurging(nil, write.Bind(echo))
		p.preview = test.preview
		err := p.ask(t)
		if got := ambit.CodeOf(err); got != test.want || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: want %q, got %v", test.name, test.want, err)
		}
	}
}

// What keeps a preview from being computed is told as the preview's, to observers and
// in the log.
func TestPreviewThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	seen := &records{}
	p := newPurging(func(o *ambit.Options, _ *ambit.Spec) {
		o.Logger, o.Observers = slog.New(slog.NewTextHandler(&log, nil)), []ambit.Observer{seen}
	})
	p.preview = func(context.Context, purgeInput) (ambit.Preview, error) {
		return ambit.Preview{}, errors.New("no connection")
	}
	if got := ambit.CodeOf(p.ask(t)); got != ambit.CodeUpstream {
		t.Errorf("want upstream, got %q", got)
	}
	const want = "the preview of notes.purge: no connection"
	if e := seen.last(t); e.Cause == nil || e.Cause.Error() != want {
		t.Errorf("want an event with the cause %q, got %v", want, e.Cause)
	}
	if !strings.Contains(log.String(), `cause="`+want+`"`) {
		t.Errorf("want the cause %q in the log, got:\n%s", want, log.String())
	}
}

// A preview runs inside the middleware, as the caller.
func TestT16_PreviewWithinMiddleware(t *testing.T) {
	t.Parallel()
	type key struct{}
	var seen []bool
	p := newPurging(func(o *ambit.Options, _ *ambit.Spec) {
		o.Middleware = []ambit.Middleware{{Name: "tenant", Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (any, error) {
			seen = append(seen, call.Previewing())
			return next(context.WithValue(ctx, key{}, "acme"))
		}}}
	})
	p.preview = func(ctx context.Context, in purgeInput) (ambit.Preview, error) {
		return ambit.Preview{Summary: ctx.Value(key{}).(string) + " for " + ambit.FromContext(ctx).Principal().Subject + " before " + in.Before}, nil
	}
	if got := ambit.CodeOf(p.ask(t)); got != ambit.CodeApprovalPending {
		t.Fatalf("want approval_pending, got %q", got)
	}
	got, err := p.Review(t.Context(), p.last)
	if want := "acme for boss before 2020"; err != nil || got.Preview.Summary != want {
		t.Errorf("want %s, got %+v, %v", want, got.Preview, err)
	}
	if diff := cmp.Diff([]bool{true, true, true}, seen); diff != "" { // the second time as deciders would see it
		t.Errorf("want middleware that can tell (-want +got):\n%s", diff)
	}
	if calls, _ := ambit.AtWork(p.App); calls != 0 {
		t.Errorf("want no slot taken, got %d", calls)
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	p := newPurging(nil)
	ended := *boss
	ended.Expires = time.Now().Add(-time.Second)
	for _, test := range []struct {
		name       string
		who        *ambit.Principal
		permission string
		want       ambit.Code
	}{
		{"held", boss, "approvals:decide", ""},
		{"not held", alice, "approvals:decide", ambit.CodeForbidden},
		{"none named", boss, "", ambit.CodeForbidden},
		{"nobody", nil, "approvals:decide", ambit.CodeForbidden},
		{"anonymous", anonymous, "approvals:decide", ambit.CodeForbidden},
		{"ended", &ended, "approvals:decide", ambit.CodeForbidden},
	} {
		if got := ambit.CodeOf(p.Permits(t.Context(), test.who, test.permission)); got != test.want {
			t.Errorf("%s: want %q, got %q", test.name, test.want, got)
		}
	}
	p.resolve = func(*ambit.Principal) *ambit.Principal { return nil }
	if got := ambit.CodeOf(p.Permits(t.Context(), boss, "approvals:decide")); got != ambit.CodeForbidden {
		t.Errorf("gone: want forbidden, got %q", got)
	}
	p.resolve = func(*ambit.Principal) *ambit.Principal { return alice }
	if got := ambit.CodeOf(p.Permits(t.Context(), boss, "approvals:decide")); got != ambit.CodeUnavailable {
		t.Errorf("another: want unavailable, got %q", got)
	}
}
