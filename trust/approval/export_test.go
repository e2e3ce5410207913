package approval

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit"
)

// SetPause replaces how a webhook waits between attempts, each of which may take as
// long as a busy machine needs.
func SetPause(w *Webhook, pause func(context.Context, time.Duration) error) {
	w.pause, w.client.Timeout = pause, time.Hour
}

// SetAhead sets the page's clock ahead.
func SetAhead(p *Page, d time.Duration) { p.now = func() time.Time { return time.Now().Add(d) } }

// Markup is how the page writes JSON text.
func Markup(text []byte) string { return string(markup(text)) }

// Token is that of the form which the page would show.
func Token(p *Page, person *ambit.Principal, r *Record, seen ambit.Digest) string {
	return p.token(person, r, seen)
}
