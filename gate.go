package ambit

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// gate is step 7: may the call run, and whose word does that need? Again reports
// that it runs by somebody's word, given now, however long that took, or earlier
// in the session, so that everything about the call has to be checked again.
func (a *App) gate(call *Call, in *invocation) (again bool, failure *Error) {
	run, spec := call.run, &in.entry.contract.spec
	decision, need := spec.decide(run.modeFor(in.Mode), run.via, run.led((*Run).byAgent))
	switch {
	case decision == DecisionBlock:
		return false, blockedInPlan()
	case decision == DecisionAllow && spec.Effect == Read:
		return false, nil
	}
	var concern string
	if a.options.Monitor != nil {
		if concern, failure = a.review(call, in); failure != nil {
			return false, failure
		}
	}
	granted := false
	if decision == DecisionAsk && need == Confirm && spec.Effect != Destructive {
		granted = run.session.allows(call.grant(in), time.Now())
	}
	if concern == "" && (decision == DecisionAllow || granted) {
		return granted, nil
	}
	if concern != "" && a.approves() && run.prompter == nil { // a monitor's doubt takes a person's word about this very call
		need = max(need, Human)
	}
	switch {
	case need == Confirm && run.prompter != nil:
		return true, a.ask(call, in, concern)
	case concern != "" && !a.approves() && (decision == DecisionAllow || granted):
		return false, blockedByMonitor(Soft, concern)
	case !a.canApprove(call, need):
		return false, a.unanswerable(call, need)
	}
	in.concern = concern
	return true, a.approve(call, in, need)
}

// canApprove reports whether the call can be confirmed or approved: a
// confirmation takes somebody who can hold a token, and an approval a way in on
// which a person's decision can be waited for.
func (a *App) canApprove(call *Call, need Approval) bool {
	via := call.run.via
	switch {
	case !a.approves():
		return false
	case need == Confirm:
		return call.parent == nil && via&(Assistant|Sandbox|Schedule) == 0 && (via&(HTTP|WebMCP|MCP) != 0 || !call.run.who().Anonymous())
	}
	// A capability of one run is known to that run alone: nobody could be shown
	// what it would do.
	return !via.Has(WebMCP) && call.entry.permission >= 0
}

func blockedInPlan() *Error {
	return &Error{
		Code: CodeBlockedInPlanMode, Message: "This run only plans: it may read and nothing else.",
		Hint: "Say what you would do instead of doing it.",
	}
}

// unanswerable refuses a call that someone must answer for when nobody can, in
// the words of the surface that caused it.
func (a *App) unanswerable(call *Call, need Approval) *Error {
	via := call.run.via
	switch {
	case a.approves() && need == Confirm && call.parent != nil:
		return &Error{
			Code: CodeForbidden, Message: "This has to be confirmed by whoever calls it, and a call within a call cannot be.",
			Hint: "Call it by itself.",
		}
	case a.approves() && via.Has(WebMCP):
		return &Error{
			Code: CodeConfirmationUnavailable, Message: "This call needs a person's decision, and a page's tool cannot ask for one.",
			Hint: "Do not try again; call it in another way.",
		}
	case via&(HTTP|WebMCP|MCP) != 0:
		if call.entry.warned.CompareAndSwap(false, true) { // once: callers must not fill the log
			a.logger.WarnContext(call.ctx.parent, "a call needs a confirmation or an approval, and the application has no way to take one",
				slog.String("capability", call.Capability()), slog.String("needs", need.String()), slog.String("set", a.missing()))
		}
		return &Error{
			Code:    CodeConfirmationUnavailable,
			Message: "This call needs a confirmation, and this application takes none on this surface.",
			Hint:    "Do not try again; ask the application's operator.",
		}
	}
	e := &Error{
		Code: CodeDeclined, Message: "This call needs a person's word, and there is no one here who could give it.",
		Hint: "Do not try again; say what you would do, so that a person can.",
	}
	if need == Confirm && via.Has(CommandLine) {
		e.Hint = "A person is asked where standard input and standard error are a terminal; --yes gives the caller's own word."
	}
	return e
}

// review asks the monitor. What it has against the call is a concern that a
// person may overrule, or a failure.
func (a *App) review(call *Call, in *invocation) (concern string, failure *Error) {
	verdict, err := a.verdict(call, in)
	switch {
	case err != nil:
		failure = blockedByMonitor(Hard, "")
		failure.cause = err
		a.logger.ErrorContext(call.ctx.parent, "monitor failed, so the call is blocked", slog.String("capability", call.Capability()), call.run.logged(), slog.Any("cause", err))
		return "", failure
	case verdict.Severity == Pass:
		return "", nil
	case verdict.Severity == Soft:
		if verdict.Reason == "" {
			verdict.Reason = "no reason given"
		}
		return cut(verdict.Reason, maxMessage), nil
	}
	return "", blockedByMonitor(Hard, cut(verdict.Reason, maxMessage))
}

func (a *App) verdict(call *Call, in *invocation) (verdict Verdict, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(call.ctx.parent, call.Capability(), v)
		}
	}()
	verdict, err = a.options.Monitor.Review(call.ctx.parent, Action{
		Capability: call.Capability(), Effect: call.Effect(), Input: in.shown(),
		Reason: call.reason, Via: call.run.via, Principal: call.Principal(),
	})
	if err == nil && verdict.Severity > Hard {
		err = fmt.Errorf("severity %d is none", verdict.Severity)
	}
	return verdict, err
}

func blockedByMonitor(severity Severity, reason string) *Error {
	e := &Error{
		Code: CodeBlockedByMonitor, Message: "The application's monitor blocked this call.",
		Hint: "Do not try it in another way; say what you meant to do.",
	}
	if severity == Soft {
		e.Hint = "A person who is asked about this very call could allow it, and there is no one here to ask."
	}
	if reason != "" {
		e.Details = map[string]any{"reason": reason}
	}
	return e
}

// ask puts the question to the run's own person, with the clocks of everything
// that waits for the call standing still.
func (a *App) ask(call *Call, in *invocation, concern string) *Error {
	run, spec := call.run, &in.entry.contract.spec
	if a.approves() { // the answer goes on record
		if failure := a.bind(call, in); failure != nil {
			return failure
		}
	}
	shown, failure := a.previewAtWork(call, in)
	if failure != nil {
		return failure
	}
	question := Question{
		Capability: spec.Name, Title: spec.title(), Effect: spec.Effect, Input: in.shown(), Preview: shown.preview,
		Status: in.frame.status(), Concern: concern, Reason: call.reason, Principal: call.Principal(),
		Session: spec.Effect != Destructive,
	}
	began := time.Now()
	resume := call.suspend()
	answer, err := a.prompt(call, run.prompter, question)
	resume()
	call.waited += time.Since(began)
	if failure := a.halted(call); failure != nil {
		return failure
	}
	if ended := firstError(run.ctx.Err(), call.ctx.Err()); ended != nil {
		return contextError(ended)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		a.logger.WarnContext(call.ctx.parent, "prompter failed, which counts as no", slog.String("capability", call.Capability()), call.run.logged(), slog.Any("cause", err))
	}
	allowed := err == nil && (answer == Allow || answer == AllowSession)
	if failure := a.consent(call, in, shown, allowed); failure != nil {
		return failure
	}
	if !allowed {
		return &Error{
			Code: CodeDeclined, Message: "The person who was asked said no.",
			Hint: "Do not repeat the call; say why it is needed, or propose another way.",
		}
	}
	if answer == AllowSession && question.Session {
		run.session.allow(call.grant(in), time.Now())
	}
	return a.still(call, in, shown)
}

// still makes sure that a call would do what the person was shown who allowed it.
func (a *App) still(call *Call, in *invocation, shown shownPreview) *Error {
	now, failure := a.previewAtWork(call, in)
	if failure != nil {
		return failure
	}
	if now.digest != shown.digest {
		return changedSince(false)
	}
	if call.once == nil {
		call.once = &once{}
	}
	call.once.approved = Approved{Level: Confirm, Version: now.version}
	return nil
}

// prompt calls the prompter with a context that ends with the caller, the run
// and the call, which a halt cancels.
func (a *App) prompt(call *Call, p Prompter, q Question) (answer Answer, err error) {
	ctx, cancel := context.WithCancel(call.ctx.parent)
	defer cancel()
	defer context.AfterFunc(&call.run.ctx, cancel)()
	defer context.AfterFunc(&call.ctx, cancel)()
	defer func() {
		if v := recover(); v != nil {
			err = a.panicked(call.ctx.parent, call.Capability(), v)
		}
	}()
	return p.Ask(ctx, q)
}

// grant is what an answer "for this session" to this call would allow.
func (c *Call) grant(in *invocation) grant {
	spec := &c.entry.contract.spec
	g := grant{principal: c.run.key, contract: c.entry.hash}
	if spec.Effect != Write {
		g.input = sha256.Sum256(grantedInput(in.frame.canonical(c.entry.contract.in), spec.GrantBy))
	}
	return g
}

// shown is the complete input with its secrets replaced.
func (in *invocation) shown() []byte {
	s := in.entry.contract.in
	return s.Redact(nil, in.frame.canonical(s))
}

// grantedInput picks the members of an input that a grant is bound to: all of
// it where by names none.
func grantedInput(canonical []byte, by []string) []byte {
	if len(by) == 0 {
		return canonical
	}
	var picked []byte
	members := strictjson.Members(canonical, strictjson.MaxDepth)
	for members.Next() {
		if slices.Contains(by, string(members.Key())) {
			picked = append(strictjson.AppendString(picked, members.Key()), ':')
			picked = append(append(picked, members.Value()...), ',')
		}
	}
	return picked
}

// suspend stops the clocks of the calls that wait for this one, and of their
// budgets, and gives the outermost one's slot back, until resume is called.
func (c *Call) suspend() (resume func()) {
	for outer := c.parent; outer != nil; outer = outer.parent {
		outer.ctx.suspend()
	}
	c.run.budget.suspend()
	outermost := c.outermost()
	if outermost != c {
		c.run.app.leaveSlot(outermost)
	}
	return func() {
		if outermost != c {
			c.run.app.resumeSlot(outermost)
		}
		for outer := c.parent; outer != nil; outer = outer.parent {
			outer.ctx.resume()
		}
		c.run.budget.resume()
	}
}
