package approval

import (
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

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
	PreviewName         string
	Preview             *shownPreview
	Status, Concern     string
	Ended               string // what the audit record says of it, where that is all that is known
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

type jump struct{ ID, Name string }

type act struct{ Value, Label, Class string }

type shownPreview struct {
	Summary string
	Items   []ambit.PreviewItem
	More    int
	Version string
	Data    template.HTML
}

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
		Objection: shown(v.Objection()), Facts: facts(v, p.now()), Decisions: decisions(r, v.about()), Reason: visible.Text(r.Proposal.Reason),
	}
	if callable(r.State) {
		d.Obstacle = shown(v.Obstacle)
	}
	if v.Ended != nil {
		d.Ended = visible.Text(v.Ended.String()) + " on " + moment(v.Ended.At)
	}
	if v.Review != nil {
		d.Concern = visible.Text(v.Review.Concern)
		d.Description, d.Status = visible.Text(v.Review.Description), visible.Text(v.Review.Status)
		d.PreviewName, d.Preview = outlookOf(r), previewOf(v.Review.Preview)
		if len(v.Review.Input) > 0 {
			d.Input, d.InputSize = markup(indented(v.Review.Input)), sizeOf(v.Review.Input)
		}
		if len(v.Review.Input) > 2<<10 || d.Preview != nil && len(d.Preview.Items) > 10 {
			d.Jumps = d.jumps()
		}
	}
	for _, earlier := range v.Denied {
		d.Denied = append(d.Denied, shownDenial{ID: earlier.ID, When: moment(earlier.Created), Decisions: decisions(&earlier, earlier.Proposal.Preview)})
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
	jumps := []jump{{"about", "who asks"}, {"input", "complete input"}}
	if d.Reason != "" {
		jumps = append(jumps, jump{"reason", "why"})
	}
	return jumps
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
