package approval

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
)

// fact is one thing that a person is told of a proposal.
type fact struct{ Name, Value, More string }

// facts returns what a person is told of a proposal beside its input and preview,
// safe to show.
func facts(v *View, now time.Time) []fact {
	r := &v.Record
	who := r.Proposal.Requester
	facts := []fact{
		{"Capability", visible.Text(r.Proposal.Binding.Capability), ""},
		{"Requested by", visible.Text(who.Subject), visible.Text(standingOf(who))},
		{"Came by", cameBy(r.Proposal.Via), ""},
		{"Agent", "none verified", ""},
		{"Asked", moment(r.Created), ""},
		{"Needs", takes(r), v.Why},
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
	switch r.State {
	case ambit.ProposalPending:
		facts = append(facts, fact{"Decide by", moment(r.DecideBy), remaining(r.DecideBy.Sub(now))})
	case ambit.ProposalApproved:
		facts = append(facts, fact{"To be executed by", moment(r.ExecuteBy), remaining(r.ExecuteBy.Sub(now))})
	case ambit.ProposalExecuting, ambit.ProposalUnknown:
		facts = append(facts, fact{"Began", moment(r.Claimed), ""})
		if v.Ended != nil {
			facts = append(facts, fact{"The record says", visible.Text(v.Ended.String()), "on " + moment(v.Ended.At)})
		}
	default:
		if ended := endOf(r); !ended.IsZero() && !ended.After(now) {
			facts = append(facts, fact{"Ended", moment(ended), ""})
		}
	}
	return facts
}

// endOf is when a proposal came to its end, as far as the record says.
func endOf(r *Record) time.Time {
	switch {
	case !r.Finished.IsZero():
		return r.Finished
	case r.State == ambit.ProposalDenied || r.State == ambit.ProposalRevoked:
		if len(r.Decisions) > 0 {
			return r.Decisions[len(r.Decisions)-1].At
		}
	case r.State == ambit.ProposalExpired && !r.ExecuteBy.IsZero():
		return r.ExecuteBy
	case r.State == ambit.ProposalExpired:
		return r.DecideBy
	}
	return time.Time{}
}

// outlookOf says what a preview is that is shown of a proposal.
func outlookOf(r *Record) string {
	switch r.State {
	case ambit.ProposalPending, ambit.ProposalApproved:
		return "What would change"
	case ambit.ProposalDenied, ambit.ProposalRevoked, ambit.ProposalExpired:
		return "What would have changed"
	}
	if r.Proposal.Level < ambit.Human {
		return "What was confirmed"
	}
	return "What was approved"
}

// standingOf says what sort of caller a requester is and who stands behind it.
func standingOf(p *ambit.Principal) string {
	text := p.Kind.String() + ", vouched for by " + p.Authority
	for i, key := range p.Behind {
		text += [...]string{", on behalf of ", ", "}[min(i, 1)] + principalkey.Name(key)
	}
	return text
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

// shownDecision is a decision as a person is shown it.
type shownDecision struct{ Said, Class, Who, When, Reason, Grant string }

// decisions are the words of persons, to somebody who is shown this preview.
func decisions(r *Record, preview ambit.Digest) []shownDecision {
	var list []shownDecision
	for _, d := range r.Decisions {
		s := shownDecision{Who: visible.Text(d.Name), When: moment(d.At), Reason: visible.Text(d.Reason), Grant: visible.Text(d.Grant)}
		switch d.Verdict {
		case Approve:
			s.Said = "Approved"
			if d.Preview != preview {
				s.Said, s.Class = "Approved an earlier preview", "other"
			}
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
	return strconv.Itoa(int(d.Round(time.Hour).Hours()/24)) + " days left"
}
