package approval

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// detailPage is what the template of one proposal shows. All texts are safe to
// show.
type detailPage struct {
	frame
	ID, State           string
	Effect, Description string
	FourEyes, Unknown   bool
	Obstacle, Objection *shownError
	Facts               []fact
	Jumps               []jump
	Preview             *shownPreview
	Status              string
	Input               template.HTML
	InputSize           string
	Decisions           []shownDecision
	Denied              []shownDenial
	Reason              string

	Fresh       bool
	ReasonLabel string
	Typed       string // what was typed as the reason of a decision that was not taken
	Token       string
	SignIn      string
}

type fact struct{ Name, Value, More string }

type jump struct{ ID, Name string }

type act struct{ Value, Label, Class string }

type shownPreview struct {
	Summary string
	Items   []ambit.PreviewItem
	More    int
	Version string
	Data    template.HTML
}

type shownDecision struct{ Said, Class, Who, When, Reason string }

type shownDenial struct {
	ID, When  string
	Decisions []shownDecision
}

// detail answers with one proposal.
func (p *Page) detail(w http.ResponseWriter, r *http.Request, person *ambit.Principal, fresh bool, id string, status int, alert *ambit.Error) {
	v, err := p.approvals.View(r.Context(), p.app, person, id)
	if err != nil {
		p.problem(w, r, ambit.ErrorFrom(p.approvals.failed(r.Context(), err), ambit.ErrorOptions{}))
		return
	}
	d := p.detailOf(&v, person)
	d.Alert = shown(alert)
	d.Fresh = fresh
	d.Typed = visible.Text(strings.TrimSpace(r.PostForm.Get("reason")))
	if fresh {
		d.Token = p.token(person, &v.Record, v.Seen())
	} else {
		d.SignIn = p.options.SignIn(r, p.base+"/"+id)
	}
	p.render(w, r, "detail.html", status, d)
}

func (p *Page) detailOf(v *View, person *ambit.Principal) *detailPage {
	r := &v.Record
	d := &detailPage{
		frame: p.frame(visible.Text(r.Proposal.Title), person),
		ID:    r.ID, State: r.State.String(), Effect: r.Proposal.Effect.String(),
		FourEyes: r.Proposal.Level == ambit.FourEyes, Unknown: r.State == ambit.ProposalUnknown,
		Objection: shown(v.Objection), Facts: p.facts(r), Decisions: decisions(r), Reason: visible.Text(r.Proposal.Reason),
	}
	if !closed(r.State) {
		d.Obstacle = shown(v.Obstacle)
	}
	if v.Review != nil {
		text := indented(v.Review.Input)
		d.Description = visible.Text(v.Review.Description)
		d.Input, d.InputSize = markup(text), sizeOf(v.Review.Input)
		if !closed(r.State) {
			d.Status, d.Preview = visible.Text(v.Review.Status), previewOf(v.Review.Preview)
		}
		if len(text) > 2<<10 {
			d.Jumps = d.jumps()
		}
	}
	for _, earlier := range v.Denied {
		d.Denied = append(d.Denied, shownDenial{ID: earlier.ID, When: moment(earlier.Created), Decisions: decisions(&earlier)})
	}
	for _, verdict := range v.Verdicts {
		d.Acts = append(d.Acts, actOf(verdict))
	}
	slices.Reverse(d.Acts) // what goes ahead stands last, where the thumb is
	d.ReasonLabel = "Reason (optional, shown to the requester if denied)"
	if d.Unknown {
		d.ReasonLabel = "How you found out (optional)"
	}
	return d
}

func (d *detailPage) jumps() []jump {
	jumps := []jump{{"input", "complete input"}}
	if d.Preview != nil {
		jumps = append(jumps, jump{"preview", "what would change"})
	}
	if d.Reason != "" {
		jumps = append(jumps, jump{"reason", "why"})
	}
	return jumps
}

// closed reports whether nothing can come of a proposal any more, so that what
// it would do now is beside the point.
func closed(s ambit.ProposalState) bool {
	return s != ambit.ProposalPending && s != ambit.ProposalApproved
}

func (p *Page) facts(r *Record) []fact {
	who := r.Proposal.Requester
	facts := []fact{
		{"Capability", visible.Text(r.Proposal.Binding.Capability), ""},
		{"Requested by", visible.Text(who.Subject), visible.Text(standingOf(who))},
		{"Came by", r.Proposal.Via.String(), ""},
		{"Agent", "none verified", ""},
		{"Asked", moment(r.Created), ""},
		{"Needs", takes(r), ""},
	}
	if agent := r.Proposal.Agent; agent.Verified() {
		facts[3].Value, facts[3].More = visible.Text(agent.URL), "key "+visible.Text(agent.Key)
	}
	if client := r.Proposal.Binding.Client; client != "" {
		facts = append(facts, fact{"Client", visible.Text(client), ""})
	}
	if tenant := r.Proposal.Binding.Tenant; tenant != "" {
		facts = append(facts, fact{"Tenant", visible.Text(tenant), ""})
	}
	switch now := p.now(); r.State {
	case ambit.ProposalPending:
		facts = append(facts, fact{"Decide by", moment(r.DecideBy), remaining(r.DecideBy.Sub(now))})
	case ambit.ProposalApproved:
		facts = append(facts, fact{"To be executed by", moment(r.ExecuteBy), remaining(r.ExecuteBy.Sub(now))})
	case ambit.ProposalExecuting, ambit.ProposalUnknown:
		facts = append(facts, fact{"Began", moment(r.Claimed), ""})
	case ambit.ProposalSucceeded, ambit.ProposalFailed:
		facts = append(facts, fact{"Ended", moment(r.Finished), ""})
	}
	return facts
}

// standingOf says what sort of caller a requester is and who stands behind it.
func standingOf(p *ambit.Principal) string {
	text := p.Kind.String() + ", vouched for by " + p.Authority
	for i, key := range p.Behind {
		text += [...]string{", on behalf of ", ", "}[min(i, 1)] + nameOf(key)
	}
	return text
}

// nameOf returns the subject and the authority of a principal's key, or the key
// where it is none. The tenant is left out: requesters have their own.
func nameOf(key string) string {
	digits, rest, _ := strings.Cut(withoutTenant(key), ":")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= len(rest) || rest[n] != '/' {
		return key
	}
	return rest[n+1:] + " (" + rest[:n] + ")"
}

// takes says whose word a proposal takes.
func takes(r *Record) string {
	text := "a person who approves"
	switch {
	case r.Proposal.Level < ambit.Human:
		return "its caller's confirmation"
	case r.Proposal.Quorum > 1:
		text = strconv.Itoa(r.Proposal.Quorum) + " persons who approve"
	}
	if r.Proposal.Level == ambit.FourEyes {
		text += ", other than the requester"
	}
	return text
}

func decisions(r *Record) []shownDecision {
	var list []shownDecision
	for _, d := range r.Decisions {
		s := shownDecision{Who: visible.Text(d.Name), When: moment(d.At), Reason: visible.Text(d.Reason)}
		switch d.Verdict {
		case Approve:
			s.Said = "Approved"
		case Deny:
			s.Said, s.Class = "Denied", "no"
		case Revoke:
			s.Said, s.Class = "Revoked", "no"
		case SettleSucceeded:
			s.Said, s.Class = "Settled: it took effect", "other"
		case SettleFailed:
			s.Said, s.Class = "Settled: it did not", "other"
		}
		list = append(list, s)
	}
	return list
}

func previewOf(preview *ambit.Preview) *shownPreview {
	if preview == nil {
		return nil
	}
	s := &shownPreview{Summary: visible.Text(preview.Summary), More: preview.More, Version: visible.Text(preview.Version)}
	for _, item := range preview.Items {
		s.Items = append(s.Items, ambit.PreviewItem{ID: visible.Text(item.ID), Title: visible.Text(item.Title), Change: visible.Text(item.Change)})
	}
	if len(preview.Data) > 0 {
		if data, err := json.MarshalIndent(preview.Data, "", "  "); err == nil {
			s.Data = markup(data)
		}
	}
	return s
}

func actOf(v Verdict) act {
	switch v {
	case Approve:
		return act{v.String(), "Approve", "approve"}
	case Deny:
		return act{v.String(), "Deny", "deny"}
	case Revoke:
		return act{v.String(), "Revoke", "deny"}
	case SettleSucceeded:
		return act{v.String(), "It took effect", ""}
	}
	return act{v.String(), "It did not", ""}
}

func sizeOf(text []byte) string {
	if len(text) == 1 {
		return "1 byte"
	}
	if len(text) < 10_000 {
		return strconv.Itoa(len(text)) + " bytes"
	}
	return fmt.Sprintf("%d,%03d bytes", len(text)/1000, len(text)%1000)
}

// moment writes a time for people, wherever they are.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// remaining says how much time there is left.
func remaining(d time.Duration) string {
	switch {
	case d <= 0:
		return "any moment"
	case d < time.Minute:
		return "less than a minute left"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d.Round(time.Minute).Minutes())) + " min left"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Round(time.Hour).Hours())) + " h left"
	}
	return strconv.Itoa(int(d.Hours()/24)) + " days left"
}
