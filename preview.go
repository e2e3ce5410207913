package ambit

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/schema"
)

// Preview is what a call would change, for whoever is asked about it. A
// capability computes it with WithPreview, by reading only.
type Preview struct {
	// Summary says it in one sentence: "Delete 3 notes for good". Required.
	Summary string `json:"summary" minLength:"1" maxLength:"500" doc:"What would change, in one sentence"`
	// Items are what would be touched, one by one, as far as they can be listed.
	Items []PreviewItem `json:"items,omitempty" maxItems:"200" doc:"What would be touched, one by one"`
	// More is how many items there are beside Items.
	More int `json:"more,omitempty" minimum:"0" doc:"How many items there are beside those listed"`
	// Version is what the target's state is known by, such as a revision or an
	// ETag: what was allowed for one version is not allowed for another. Empty:
	// the preview itself is all that tells.
	Version string `json:"version,omitempty" maxLength:"200" doc:"The version of the target"`
	// Data is for programs that show the preview in a form of their own.
	Data map[string]any `json:"data,omitempty" doc:"More about it, for programs"`
}

// PreviewItem is one thing that a call would touch.
type PreviewItem struct {
	// ID names the thing within the application. May be empty.
	ID string `json:"id,omitempty" maxLength:"200"`
	// Title is what people know it by. Required.
	Title string `json:"title" minLength:"1" maxLength:"300"`
	// Change says what would happen to it, where that is not the same for all.
	Change string `json:"change,omitempty" maxLength:"300"`
}

// MaxPreview is the most bytes that a preview may have as JSON.
const MaxPreview = 64 << 10

// shortSecret is how many bytes a secret may have to be taken for a word that
// stands in a preview by chance.
const shortSecret = 4

// shownPreview is a preview as others get to see it. The zero value is that of a
// capability which has none.
type shownPreview struct {
	preview *Preview
	text    []byte // canonical JSON
	digest  Digest
	version string
	concern string // beside it: what the monitor has against the call
}

// preview computes what a call would change, within the middleware, on the input
// that was checked.
func (a *App) preview(call *Call, in *invocation) (shown shownPreview, failure *Error) {
	if !in.frame.previews() {
		return shownPreview{}, nil
	}
	ctx := &callContext{call: call}
	ctx.parent = call.ctx.parent
	ctx.start(time.Now().Add(in.entry.deadline))
	defer ctx.close()
	for _, other := range [...]context.Context{&call.ctx, &call.run.ctx} { // which a halt and the end of the run close
		defer context.AfterFunc(other, ctx.close)()
	}
	call.marks.Or(previewing)
	defer call.marks.And(^previewing)
	f := in.frame
	made, err := chain(ctx, call, &passage{}, in.entry.implementation.Load().middleware, 0, func(ctx context.Context) (any, error) { return f.preview(ctx) })
	if err != nil {
		failure := a.handlerError(call, err)
		failure.cause = fmt.Errorf("the preview of %s: %w", call.Capability(), firstError(failure.cause, err))
		return shownPreview{}, failure
	}
	p, ok := made.(Preview)
	if !ok {
		return shownPreview{}, &Error{Code: CodeInvalidOutput, cause: fmt.Errorf("middleware around the preview of %s returned %T", call.Capability(), made)}
	}
	return a.show(call, in, p)
}

// show checks a preview and writes it in the form that its digest is of.
func (a *App) show(call *Call, in *invocation, p Preview) (shownPreview, *Error) {
	s := a.schemaOfPreview()
	text, faults := s.Append(nil, reflect.ValueOf(&p).Elem())
	if len(faults) == 0 {
		text, faults = s.AppendCanonical(nil, text, a.options.MaxDepth)
	}
	if len(faults) > 0 {
		return shownPreview{}, a.invalidPreview(call, "%s %s", faults[0].Pointer, faults[0].Message)
	}
	if len(text) > MaxPreview {
		return shownPreview{}, a.invalidPreview(call, "it has %d bytes, at most %d are shown", len(text), MaxPreview)
	}
	input := in.entry.contract.in
	given := in.text
	if given == nil {
		given = in.frame.canonical(input)
	}
	for _, secret := range input.Secrets(given) {
		if secret = bytes.Trim(secret, `"`); len(secret) > shortSecret && bytes.Contains(text, secret) {
			return shownPreview{}, a.invalidPreview(call, "it shows a secret of the input")
		}
	}
	return shownPreview{preview: &p, text: text, digest: previewDigest(text), version: p.Version}, nil
}

// previewDigest is what a preview in canonical form is known by.
func previewDigest(text []byte) Digest { return digestOf("ambit/preview/1", string(text)) }

// invalidPreview is the application's fault: its detail stays here.
func (a *App) invalidPreview(call *Call, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidOutput, cause: fmt.Errorf("the preview of %s: "+format, append([]any{call.Capability()}, args...)...)}
}

func (a *App) schemaOfPreview() *schema.Schema {
	a.previewOnce.Do(func() {
		a.previewSchema, _ = schema.For[Preview](schema.Options{}) // a test shows that it can be described
	})
	return a.previewSchema
}

// Previews reports whether an application's capability says before it runs what
// it would change (WithPreview). It is false for one whose module is not loaded.
func (a *App) Previews(name string) bool {
	e := a.byName[name]
	if e == nil {
		return false
	}
	implementation := e.implementation.Load()
	if implementation == nil {
		return false
	}
	f := implementation.binding.newFrame()
	return f.previews()
}

// Previewing reports whether what runs now is the preview of the call and not
// its handler, for middleware that treats the two differently: next gives a
// [Preview] then, and so must the middleware.
func (c *Call) Previewing() bool { return c != nil && c.is(previewing) }

// write says the preview in lines for a person to read. Characters that a screen
// would obey rather than show are escaped.
func (p *Preview) write(b *strings.Builder) {
	b.WriteString("It would: " + visible.Text(p.Summary) + "\n")
	for _, item := range p.Items {
		b.WriteString("  - " + visible.Text(item.Title))
		if item.ID != "" {
			b.WriteString(" (" + visible.Text(item.ID) + ")")
		}
		if item.Change != "" {
			b.WriteString(": " + visible.Text(item.Change))
		}
		b.WriteString("\n")
	}
	if p.More > 0 {
		b.WriteString("  and " + strconv.Itoa(p.More) + " more\n")
	}
	if p.Version != "" {
		b.WriteString("Version: " + visible.Text(p.Version) + "\n")
	}
}
