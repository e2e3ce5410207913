package approval

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

// pageRows is how many proposals one page of the list has.
const pageRows = 50

// listPage is what the template of the list shows.
type listPage struct {
	frame
	Heading, Empty, Next string
	Tabs                 []tab
	Rows                 []listRow
}

type tab struct {
	Name, Query string
	Here        bool
}

type listRow struct {
	ID, Title, Summary, Effect, Time, Requester, Agent, Via, Capability, State, Progress string
	FourEyes, ShowState                                                                  bool
}

// section is one part of the list.
type section struct {
	key, name, empty string
	states           []ambit.ProposalState
}

// sections returns the parts of the list, what waits first.
func sections() []section {
	return []section{
		{"", "Waiting", "Nothing waits for your decision.", []ambit.ProposalState{ambit.ProposalPending}},
		{"approved", "Approved", "Nothing is approved and not yet made.", []ambit.ProposalState{ambit.ProposalApproved, ambit.ProposalExecuting}},
		{"unknown", "To settle", "No call has got lost.", []ambit.ProposalState{ambit.ProposalUnknown}},
		{"closed", "Closed", "Nothing has been closed yet.", ClosedStates()},
	}
}

// list answers with a page of the list.
func (p *Page) list(w http.ResponseWriter, r *http.Request, person *ambit.Principal) {
	query := r.URL.Query()
	all := sections()
	here := all[0]
	for _, s := range all {
		if s.key == query.Get("show") {
			here = s
		}
	}
	records, next, err := p.approvals.List(r.Context(), p.app, person, Filter{States: here.states, After: query.Get("after"), Limit: pageRows})
	if err != nil {
		p.problem(w, r, ambit.ErrorFrom(p.approvals.failed(r.Context(), err), ambit.ErrorOptions{}))
		return
	}
	l := &listPage{frame: p.frame("Approvals", person), Heading: "Approvals", Empty: here.empty}
	for _, s := range all {
		l.Tabs = append(l.Tabs, tab{s.name, listQuery(s.key, ""), s.key == here.key})
	}
	if next != "" {
		l.Next = listQuery(here.key, next)
	}
	for _, record := range records {
		l.Rows = append(l.Rows, p.row(&record, len(here.states) > 1))
	}
	p.render(w, r, "list.html", http.StatusOK, l)
}

func (p *Page) row(r *Record, showState bool) listRow {
	row := listRow{
		ID: r.ID, Title: visible.Text(r.Proposal.Title), Summary: visible.Text(p.app.Summary(r.Proposal)), Effect: r.Proposal.Effect.String(), Time: moment(r.Created),
		Requester: visible.Text(r.Proposal.Requester.Subject), Agent: visible.Text(r.Proposal.Agent.URL), Via: r.Proposal.Via.String(),
		Capability: visible.Text(r.Proposal.Binding.Capability), State: r.State.String(), FourEyes: r.Proposal.Level == ambit.FourEyes, ShowState: showState,
	}
	if r.State == ambit.ProposalPending {
		row.Time = remaining(r.DecideBy.Sub(p.now()))
		row.Progress = progress(r)
	}
	return row
}

// progress says how many have approved where it takes several.
func progress(r *Record) string {
	if r.Proposal.Quorum < 2 {
		return ""
	}
	approved := 0
	for _, d := range r.Decisions {
		if d.Verdict == Approve {
			approved++
		}
	}
	have := " have approved"
	if approved == 1 {
		have = " has approved"
	}
	return strconv.Itoa(approved) + " of " + strconv.Itoa(r.Proposal.Quorum) + have
}

func listQuery(show, after string) string {
	values := url.Values{}
	if show != "" {
		values.Set("show", show)
	}
	if after != "" {
		values.Set("after", after)
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
