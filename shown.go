package ambit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// maxSummary is how many bytes the line may have that lists show of a call.
const maxSummary = 300

// keepShown puts into a proposal what it is about and what is shown of that:
// input, preview, what the monitor has against it, and summary, sealed for its own
// operation.
func (a *App) keepShown(p *Proposal, e *entry, input []byte, shown shownPreview) {
	operation := p.Binding.Operation()
	preview := shown.text
	if preview == nil {
		preview = []byte("null")
	}
	all := make([]byte, 0, len(input)+len(preview)+len(shown.concern)+6)
	all = append(append(append(append(all, '['), input...), ','), preview...)
	if shown.concern != "" {
		all = strictjson.AppendString(append(all, ','), shown.concern)
	}
	p.Input = a.seals.inputs.seal(append(all, ']'), operation[:])
	p.Preview, p.Version = shown.digest, shown.version

	summary := ""
	if shown.preview != nil {
		summary = shown.preview.Summary
	} else {
		summary = string(e.contract.in.Redact(nil, input))
	}
	p.Summary = a.seals.summaries.seal([]byte(shortened(summary, maxSummary)), operation[:])
}

// shortened cuts a text to so many bytes, between two characters.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimRight(text[:cut], " ") + "…"
}

// openShown opens what keepShown sealed: the input, the canonical preview, nil where
// there was none, and what the monitor had against the call.
func (a *App) openShown(p *Proposal) (input, preview []byte, concern string, failure *Error) {
	if err := a.CanReview(); err != nil {
		return nil, nil, "", &Error{Code: CodeConfirmationUnavailable, Message: "This process has no key that opens proposals.", Hint: "Decide where the application has it.", cause: err}
	}
	operation := p.Binding.Operation()
	text, err := a.seals.inputs.open(p.Input, operation[:])
	var all []json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil && len(all) == 3 {
		err = json.Unmarshal(all[2], &concern)
		all = all[:2]
	}
	if err != nil || len(all) != 2 || inputDigest(p.Binding.Contract, all[0]) != p.Binding.Input || p.Requester == nil || p.Requester.Key() != p.Binding.Principal {
		return nil, nil, "", &Error{
			Code: CodeConflict, Message: "The input of this proposal cannot be read any more.", Hint: "It has to be asked for anew.",
			cause: errors.Join(errors.New("the record was changed, or its key is no longer in Options.Keys or Options.ReviewKeys"), err),
		}
	}
	if preview = all[1]; string(preview) == "null" || previewDigest(preview) != p.Preview {
		preview = nil
	}
	return all[0], preview, concern, nil
}

// Summary returns the line that lists show of a stored proposal: the summary of
// its preview, or else how its input begins, with secret values replaced. It may
// hold characters that a screen obeys. Empty: it cannot be opened, because there
// is none, its key is no longer there, this process opens none ([App.CanReview]), or
// the record was changed.
func (a *App) Summary(p Proposal) string {
	if a.CanReview() != nil {
		return ""
	}
	operation := p.Binding.Operation()
	text, err := a.seals.summaries.open(p.Summary, operation[:])
	if err != nil {
		return ""
	}
	return string(text)
}

// LastReview returns what persons were last shown of a stored proposal, where
// nothing can come of it any more: of one that was made, what was allowed.
// Nothing of the application runs, and nothing is asked anew. Status is empty.
// Input is nil where the capability has changed since, because its secrets could
// not be told any more, and Preview where there was none.
//
// It is for the channels that [App.Review] is for. CodeConflict says that it cannot
// be opened any more, CodeConfirmationUnavailable that this process opens none
// ([App.CanReview]).
func (a *App) LastReview(ctx context.Context, p Proposal) (Review, error) {
	if err := a.Freeze(); err != nil {
		return Review{}, (&Error{Code: CodeUnavailable, cause: err}).completed(a.errorOptions())
	}
	if RunFromContext(ctx) != nil {
		return Review{}, (&Error{Code: CodeNotFound}).completed(a.errorOptions())
	}
	input, preview, concern, failure := a.openShown(&p)
	if failure != nil {
		return Review{}, a.unreviewed(ctx, &p, failure)
	}
	r := Review{
		Capability: p.Binding.Capability, Title: p.Title, Effect: p.Effect, Digest: p.Preview, Version: p.Version, Concern: concern, Proposal: p,
	}
	if e := a.byName[p.Binding.Capability]; e != nil && e.hash == p.Binding.Contract {
		r.Description, r.Input = e.contract.spec.Description, e.contract.in.Redact(nil, input)
	}
	if preview != nil {
		r.Preview = new(Preview)
		if err := json.Unmarshal(preview, r.Preview); err != nil {
			r.Preview = nil
		}
	}
	return r, nil
}
