package ambittest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/ambit-dev/ambit"
)

// transcript is everything that left the application through a host, and where
// that was.
type transcript struct {
	mu    sync.Mutex
	texts []placedText
}

type placedText struct{ place, text string }

func (t *transcript) keep(place, text string) {
	if text == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts = append(t.texts, placedText{place, text})
}

func (t *transcript) all() []placedText {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.texts)
}

// keepAnswer keeps what a caller was told.
func (t *transcript) keepAnswer(a *Answer) {
	of := " of " + a.call
	t.keep("the output"+of, string(a.Output))
	if a.Err != nil {
		t.keep("the error"+of, inFull(a.Err))
	}
	for _, p := range a.Progress {
		t.keep("the progress"+of, p.Message)
	}
}

// keepTyped keeps what came of a call with Go values.
func (t *transcript) keepTyped(call string, out any, failure *ambit.Error) {
	a := &Answer{call: call, Err: failure}
	if text, err := json.Marshal(out); failure == nil && err == nil {
		a.Output = text
	} else if failure == nil {
		a.Output = fmt.Appendf(nil, "%+v", out)
	}
	t.keepAnswer(a)
}

// transcriptKey is where the context of a host's calls holds its transcript.
type transcriptKey struct{}

// keepFor keeps a text in the transcript of the host whose call it belongs to.
func keepFor(ctx context.Context, place, text string) {
	if t, ok := ctx.Value(transcriptKey{}).(*transcript); ok {
		t.keep(place, text)
	}
}
