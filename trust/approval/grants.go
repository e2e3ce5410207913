package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/audit"
)

const (
	// maxLongestGrant is the most that [Options.LongestGrant] can say.
	maxLongestGrant = 366 * 24 * time.Hour
	// maxLiveGrants is how many live grants there may be for one caller and
	// capability: each of their calls that waits looks at all of them.
	maxLiveGrants = 100
	// maxGrantInput is how many bytes the schema of a grant may have: a person has to
	// read it.
	maxGrantInput = 16 << 10
	// maxBudget is the most calls that one grant can approve.
	maxBudget = 1_000_000
)

// CheckGrant says what a person would allow by a grant, before they do: its
// Principal, Client, Agent, Capability, Input, Until, Budget and Given.Reason, the
// rest of it is filled in. Nothing is kept.
//
// Whoever gives a grant holds what takes a decision about a call of the
// capability, and gives it for calls of their own tenant. Errors are of type
// [*ambit.Error]: CodeNotFound for a capability that is not there, and for anyone
// but a person; CodeForbidden; CodeInvalidInput for what is wrong with the grant.
func (a *Approvals) CheckGrant(ctx context.Context, app *ambit.App, person *ambit.Principal, g Grant) (GrantView, error) {
	terms, err := a.grantable(ctx, app, person, g.Capability)
	if err != nil {
		return GrantView{}, err
	}
	if g.Input, err = grantInput(g.Input, terms.Contract); err != nil {
		return GrantView{}, err
	}
	if err := a.grantFault(&g, person, terms.Level); err != nil {
		return GrantView{}, err
	}
	g.ID, g.Tenant, g.Contract, g.DecidePermission, g.Used, g.Revoked = "", person.Tenant, terms.Hash, terms.DecidePermission, 0, Decision{}
	g.Given = Decision{
		Decider: person.Key(), Behind: behindOf(person), Name: person.Subject, Principal: kept(person),
		Verdict: Approve, Reason: g.Given.Reason,
	}
	return grantView(app, g), nil
}

// grantable returns the terms of a capability whose calls a person may allow.
func (a *Approvals) grantable(ctx context.Context, app *ambit.App, person *ambit.Principal, capability string) (ambit.Terms, error) {
	switch {
	case !present(ctx, person):
		return ambit.Terms{}, noGrant()
	case a.longestGrant == 0:
		return ambit.Terms{}, ambit.Errorf(ambit.CodeForbidden, "This application takes no standing grants.").
			WithHint("The program says how long one may hold: approval.Options.LongestGrant.")
	}
	if refused := a.elsewhere(ctx, app); refused != nil {
		return ambit.Terms{}, refused
	}
	terms, ok := app.Terms(capability)
	if !ok {
		return ambit.Terms{}, ambit.Errorf(ambit.CodeNotFound, "There is no capability %q.", capability).WithHint("The command list shows which there are.")
	}
	err := a.mayDecide(ctx, app, person, terms.DecidePermission, "You may not decide about calls of "+capability+".", "Somebody gives the grant who holds the permission for it.")
	switch {
	case err != nil:
		return ambit.Terms{}, err
	case terms.Level < ambit.Human:
		return ambit.Terms{}, ambit.Invalid("/capability", "No call of "+capability+" waits for a person, so there is nothing to grant.")
	}
	return terms, nil
}

// grantFault says what is wrong with the rest of a grant.
func (a *Approvals) grantFault(g *Grant, person *ambit.Principal, level ambit.Approval) error {
	tenant, _, subject, known := principalkey.Split(g.Principal)
	left := time.Until(g.Until)
	switch {
	case !known || subject == "" || !printable(g.Principal):
		return ambit.Invalid("/principal", "This is no key of a caller, such as 0:/6:apikey/robot.").WithHint("The command whoami writes the key of a caller.")
	case tenant != person.Tenant:
		return ambit.Invalid("/principal", "This caller is of another tenant than you.")
	case level == ambit.FourEyes && slices.Contains(behindOf(person), principalkey.WithoutTenant(g.Principal)):
		return ambit.Invalid("/principal", "This takes another pair of eyes: you cannot allow your own calls, or those of somebody whom you act for.")
	case !printable(g.Client):
		return ambit.Invalid("/client", "This is no client.")
	case !printable(g.Agent):
		return ambit.Invalid("/agent", "This is no address of an agent.")
	case g.Budget < 1 || g.Budget > maxBudget:
		return ambit.Invalid("/budget", fmt.Sprintf("The number of calls is not between 1 and %d.", maxBudget))
	case left <= 0:
		return ambit.Invalid("/until", "This time is over.")
	case left > a.longestGrant:
		return ambit.Invalid("/until", "A grant holds no longer than "+spanOf(a.longestGrant)+" here.")
	case strings.TrimSpace(g.Given.Reason) == "":
		return ambit.Invalid("/reason", "The reason is missing.")
	}
	if fault := reasonFault(g.Given.Reason); fault != "" {
		return ambit.Invalid("/reason", fault)
	}
	return nil
}

// printable reports whether a text can stand in every store, and in one line.
func printable(text string) bool {
	return len(text) <= 1024 && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar })
}

// Give keeps a grant of a person who was shown what [Approvals.CheckGrant] says of it,
// and returns it. It is for the human channel, as [Approvals.Decide] is. Errors are
// those of CheckGrant; CodeConflict where there are a hundred live ones for this
// caller and capability.
func (a *Approvals) Give(ctx context.Context, app *ambit.App, person *ambit.Principal, g Grant) (Grant, error) {
	v, err := a.CheckGrant(ctx, app, person, g)
	if err != nil {
		return Grant{}, err
	}
	g = v.Grant
	live, _, err := a.store.Grants(ctx, GrantFilter{Tenant: g.Tenant, Principal: g.Principal, Capability: g.Capability, Live: true, Limit: maxLiveGrants})
	now := time.Now()
	live = slices.DeleteFunc(live, func(g Grant) bool { return !now.Before(a.shortened(g).Until) })
	switch {
	case err != nil:
		return Grant{}, a.failed(ctx, err)
	case len(live) >= maxLiveGrants:
		return Grant{}, ambit.Errorf(ambit.CodeConflict, "There are %d live grants for this caller and capability, which is as many as there may be.", len(live)).
			WithHint("Revoke some that are not needed.")
	}
	g.ID = rand.Text()
	var given Grant
	err = a.onRecord(ctx, granted(&g, &g.Given, "give"), func(ctx context.Context, e *audit.Entry) (bool, error) {
		given, err = a.store.Give(ctx, g, e) // g stays as it is: this may be done twice
		return true, err
	})
	if err != nil { // and what was given may be in force nevertheless
		var there error
		if given, there = a.store.Grant(ctx, g.Tenant, g.ID); there != nil {
			return Grant{}, a.failed(ctx, err)
		}
	}
	g = given
	a.logger.InfoContext(ctx, "standing grant given", slog.String("grant", g.ID), slog.String("capability", g.Capability), slog.String("principal", visible.Text(g.Principal)),
		slog.Int("calls", g.Budget), slog.Time("until", g.Until), slog.String("granter", visible.Text(principalkey.Name(g.Given.Decider))))
	return g, nil
}

// Grant returns a grant for a person who may decide about calls of its capability.
// Errors are those of [Approvals.Decide].
func (a *Approvals) Grant(ctx context.Context, app *ambit.App, person *ambit.Principal, id string) (GrantView, error) {
	g, err := a.findGrant(ctx, app, person, id)
	if err != nil {
		return GrantView{}, err
	}
	return grantView(app, g), nil
}

// findGrant returns a grant that a person may revoke.
func (a *Approvals) findGrant(ctx context.Context, app *ambit.App, person *ambit.Principal, id string) (Grant, error) {
	if !present(ctx, person) || !isID(id) {
		return Grant{}, noGrant()
	}
	if refused := a.elsewhere(ctx, app); refused != nil {
		return Grant{}, refused
	}
	g, err := a.store.Grant(ctx, person.Tenant, id)
	if err != nil {
		return Grant{}, a.grantFailed(ctx, err)
	}
	if err := a.mayDecide(ctx, app, person, g.DecidePermission, "You may not decide about this.", "Somebody decides who holds the permission for it."); err != nil {
		return Grant{}, err
	}
	return a.shortened(g), nil
}

// shortened returns a grant with the end that it has where it may hold no longer than
// grants may now, which can be less than when it was given.
func (a *Approvals) shortened(g Grant) Grant {
	if most := g.Given.At.Add(a.longestGrant); most.Before(g.Until) {
		g.Until = most
	}
	return g
}

// Grants returns a page of the grants that a person may revoke, newest first, and the
// cursor of the next page, empty at the end. They are of the person's tenant,
// whatever the filter says. A page can hold fewer than the filter's limit. Errors
// are those of [Approvals.Decide].
func (a *Approvals) Grants(ctx context.Context, app *ambit.App, person *ambit.Principal, f GrantFilter) (list []Grant, next string, err error) {
	if !present(ctx, person) {
		return nil, "", noGrant()
	}
	if refused := a.elsewhere(ctx, app); refused != nil {
		return nil, "", refused
	}
	if !printable(f.Principal) || !printable(f.Capability) {
		return nil, "", nil
	}
	f.Tenant = person.Tenant
	now := time.Now()
	list, next, err = permitted(ctx, app, person, f.After, func(after string) ([]Grant, string, error) {
		f.After = after
		return a.store.Grants(ctx, f)
	}, func(g *Grant) (string, bool) {
		*g = a.shortened(*g)
		return g.DecidePermission, !f.Live || g.State(now) == GrantLive
	})
	if err != nil {
		return nil, "", a.failed(ctx, err)
	}
	return list, next, nil
}

// RevokeGrant ends a grant, for a person who may decide about calls of its
// capability, and returns it. The next call sees it. What the grant has approved and
// no call has begun is revoked with it; what waits for another person as well waits
// for one more. Errors are those of [Approvals.Decide].
func (a *Approvals) RevokeGrant(ctx context.Context, app *ambit.App, person *ambit.Principal, id, reason string) (Grant, error) {
	if fault := reasonFault(reason); fault != "" {
		return Grant{}, ambit.Invalid("/reason", fault)
	}
	g, err := a.findGrant(ctx, app, person, id)
	if err != nil {
		return Grant{}, err
	}
	d := Decision{Decider: person.Key(), Behind: behindOf(person), Name: person.Subject, Principal: kept(person), Verdict: Revoke, Reason: reason}
	var lost []Record
	changed := false
	err = a.onRecord(ctx, granted(&g, &d, "revoke"), func(ctx context.Context, e *audit.Entry) (bool, error) {
		g, lost, changed, err = a.store.RevokeGrant(ctx, person.Tenant, id, d, e)
		return changed, err
	})
	switch {
	case err != nil:
		return Grant{}, a.grantFailed(ctx, err)
	case !changed:
		return Grant{}, ambit.Errorf(ambit.CodeConflict, "This grant is %s.", g.State(time.Now()))
	}
	a.logger.InfoContext(ctx, "standing grant revoked", slog.String("grant", g.ID), slog.String("capability", g.Capability), slog.String("principal", visible.Text(g.Principal)),
		slog.String("decider", visible.Text(principalkey.Name(d.Decider))), slog.Int("proposals", len(lost)))
	for _, r := range lost {
		a.tell(r)
	}
	return g, nil
}

// grantFailed makes the answer to an error of the store.
func (a *Approvals) grantFailed(ctx context.Context, err error) error {
	if errors.Is(err, ErrNotFound) {
		return noGrant()
	}
	return a.failed(ctx, err)
}

func noGrant() *ambit.Error { return ambit.Errorf(ambit.CodeNotFound, "There is no such grant.") }
