package trust

import (
	"context"
	"log/slog"
	"net/http"
)

// Context returns the context that the runs of a request begin with: the
// request's own, and what the authenticators add to it, see [ContextAdder].
func (g *Guard) Context(r *http.Request, i *Identity) context.Context {
	ctx := r.Context()
	if i.Anonymous() {
		return ctx
	}
	for _, a := range g.adders {
		ctx = g.addContext(ctx, a, r, i)
	}
	return ctx
}

// addContext lets one authenticator add to a context and contains its panic.
func (g *Guard) addContext(ctx context.Context, a ContextAdder, r *http.Request, i *Identity) (added context.Context) {
	defer func() {
		if v := recover(); v != nil {
			added = ctx
			g.app.Logger().ErrorContext(r.Context(), "an authenticator panicked", slog.Any("panic", v))
		}
	}()
	if added = a.AddContext(ctx, r, i); added == nil {
		return ctx
	}
	return added
}
