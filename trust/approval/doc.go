// Package approval keeps what persons have allowed: proposals that wait for a
// decision, the decisions, and what became of the calls.
//
//	approvals, err := approval.New(store, approval.Options{
//		URL:       "https://notes.example.com/approvals",
//		Notifiers: []approval.Notifier{webhook},
//	})
//	app := ambit.New(ambit.Options{Name: "notes", Keys: keys, Approver: approvals})
//	page, err := approval.NewPage(app, approvals, approval.PageOptions{Login: login, SignIn: signIn})
//	handler, err := serve.Handler(app, serve.Options{Wrap: page.Wrap})
//	...
//	err = approvals.Close(ctx)
//
// # What a proposal goes through
//
// A call that takes a person's word makes a proposal, in the pipeline, and is
// answered that it waits. Repeating the call finds the same one: there is one for
// each operation, which is the principal with client and agent, the capability
// with its contract, and the input. It is
//
//	pending -> approved -> executing -> succeeded | failed | unknown
//
// or denied, revoked or expired before it is executed. It can be decided until
// DecideBy and executed until ExecuteBy, which begins with the decision. A call
// whose process died is unknown, and stays so until a person settles it.
//
// # Who decides
//
// [Approvals.Decide] takes the word of a person who holds the proposal's
// permission, in its tenant. [ambit.Human] takes anybody's, the requester's own
// person included; [ambit.FourEyes] that of somebody who shares nothing with the
// requester: neither the key, nor one of those behind ([ambit.Principal]). A
// quorum counts persons and not accounts, one no is enough, and a decider who has
// lost the permission by the time of the call has not decided.
//
// A decision holds for the preview that the person saw, and for no other: the
// preview is computed again when they decide, and when the call is made.
//
// # In advance
//
// With [Options.LongestGrant] a person can approve calls before they are made, by a
// [Grant]: [Approvals.Give] keeps it, and a call that it covers is approved by that
// person's word as soon as it asks, by the same rules.
//
// # The human channel
//
// There is no capability for any of this. Persons decide on the [Page], which is
// served where the application mounts it, behind its own login, or on the command
// line of the application (package command). Code that shows proposals in a place
// of its own, a chat for instance, calls [Approvals.View] and Decide, and answers
// for it that a person was there. What belongs to a run finds nothing here.
//
// # Who is told
//
// A [Notifier] is told of each proposal that waits for a person, apart from the
// call that made it. [Webhook] posts signed JSON.
package approval
