package ambit

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// The windows and the permission that hold unless [Options] or a [Spec] say
// otherwise.
const (
	DefaultConfirmWithin    = 2 * time.Minute
	DefaultDecideWithin     = 24 * time.Hour
	DefaultExecuteWithin    = 15 * time.Minute
	DefaultDecidePermission = "approvals:decide"
)

// approves reports whether the application has all that confirmations and
// approvals take.
func (a *App) approves() bool { return a.options.Approver != nil && a.options.Keys != nil }

// missing names what confirmations and approvals take and the application does
// not have.
func (a *App) missing() string {
	var names []string
	if a.options.Approver == nil {
		names = append(names, "Options.Approver")
	}
	if a.options.Keys == nil {
		names = append(names, "Options.Keys")
	}
	return strings.Join(names, " and ")
}

// approvalFaults checks what approvals need of the application.
func (a *App) approvalFaults() (faults []error) {
	if fault := decidePermissionFault(a.options.DecidePermission); fault != "" {
		faults = append(faults, errors.New("ambit: Options."+fault))
	}
	if approver := a.options.Approver; approver != nil {
		switch ledger := approver.Ledger(); {
		case ledger == nil:
			faults = append(faults, errors.New("ambit: Options.Approver has no ledger, so that nothing that it allows could be claimed"))
		case !wraps(a.options.Ledger, ledger):
			faults = append(faults, errors.New("ambit: Options.Ledger is not the ledger of Options.Approver, and does not wrap it, so that the two could not be claimed as one: leave Ledger out"))
		}
	}
	for _, e := range a.entries {
		if fault := a.approvalFault(&e.contract.spec); fault != "" {
			faults = append(faults, fmt.Errorf("ambit: capability %q %s", e.contract.spec.Name, fault))
		}
	}
	return faults
}

// approvalFault says what a capability needs that the application does not have.
func (a *App) approvalFault(s *Spec) string {
	missing := a.missing()
	switch {
	case s.Effect == Destructive && s.Expose.Has(MCP) && !a.options.DestructiveOverMCP:
		return "is destructive and exposed on MCP, and the application does not want that: set Options.DestructiveOverMCP, or remove ambit.MCP from its Expose"
	case s.Effect == Destructive && s.Expose.Has(MCP) && missing != "":
		return "is destructive and exposed on MCP, where a person has to decide on each call: set " + missing + ", or remove ambit.MCP from its Expose"
	case s.Approval >= Human && missing != "":
		return "needs the approval of a person (" + s.Approval.String() + "), and the application keeps none: set " + missing
	}
	return ""
}

// wraps reports whether a ledger is another one, or hands its work on to it.
func wraps(outer, inner Ledger) bool {
	for outer != nil {
		if same(outer, inner) {
			return true
		}
		wrapper, ok := outer.(interface{ Unwrap() Ledger })
		if !ok {
			return false
		}
		outer = wrapper.Unwrap()
	}
	return false
}

// same compares without a panic where a type cannot be compared.
func same(a, b any) bool {
	return a != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// decidePermissionFault says what is wrong with the permission of deciders.
func decidePermissionFault(permission string) string {
	switch {
	case permission == Public:
		return "DecidePermission is ambit.Public, so that anybody could decide: name a permission"
	case permission == "":
		return ""
	}
	if fault := permissionFault(permission); fault != "" {
		return "DecidePermission: " + fault
	}
	return ""
}

// decisionFault says what is wrong with the part of a spec that is about
// approvals.
func (s *Spec) decisionFault() string {
	switch {
	case s.Approval > FourEyes:
		return "Approval is none of ambit.Confirm, Human, FourEyes"
	case s.Approval >= Human && s.Expose.Has(WebMCP):
		return "Expose has WebMCP on a capability that needs a person's approval: a page's tools cannot ask for one, so remove ambit.WebMCP"
	case s.Replay > ReplayReceipt:
		return "Replay is none of ambit.ReplayOutcome, ReplayReceipt"
	case s.Replay == ReplayReceipt && s.Effect == Read && s.Approval == ApprovalUnset:
		return "Replay is ambit.ReplayReceipt on a read that needs nobody's word, whose outcome is kept nowhere: remove Replay"
	case s.Quorum < 0:
		return "Quorum is negative: leave it zero for one person"
	case s.Quorum > maxQuorum:
		return fmt.Sprintf("Quorum is more than %d", maxQuorum)
	case s.Quorum > 0 && s.Approval < Human:
		return "Quorum without an Approval by persons, so that calls could be made that fewer have approved, or none: set Approval to ambit.Human or ambit.FourEyes, or remove Quorum"
	case s.ConfirmWithin < 0 || s.DecideWithin < 0 || s.ExecuteWithin < 0:
		return "ConfirmWithin, DecideWithin or ExecuteWithin is negative: leave it zero for the application's"
	}
	return decidePermissionFault(s.DecidePermission)
}

// maxQuorum is the most persons that one call can take.
const maxQuorum = 10

// title is what people know the capability by.
func (s *Spec) title() string {
	if s.Title == "" {
		return s.Name
	}
	return s.Title
}
