package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// DefaultPrefix is the path under which an API stands unless it is told.
const DefaultPrefix = "/api/"

// Options configure an API. The zero value serves this machine alone, under
// [DefaultPrefix].
type Options struct {
	// Trust says who may come in.
	Trust trust.Options
	// Prefix is the path that the API stands under. It begins and ends with a
	// slash and is made of static segments. Empty: [DefaultPrefix].
	Prefix string
}

// api is the handler. It is immutable but for its pool.
type api struct {
	app     *ambit.App
	guard   *trust.Guard
	prefix  string
	routes  map[string]route
	paths   map[string]string // of what has a route, by the dotted name
	catalog *ambit.Catalog
	pool    sync.Pool // of *buffers
}

// New returns the API of an application, which it freezes. It fails where the
// application or the options cannot work, and where two capabilities have one
// path. The handler answers every path: one outside of the prefix with 404.
func New(app *ambit.App, o Options) (http.Handler, error) {
	guard, err := trust.NewGuard(app, o.Trust)
	if err != nil {
		return nil, err
	}
	if err := trust.CheckRequesters(app, ambit.HTTP, o.Trust); err != nil {
		return nil, err
	}
	a := &api{app: app, guard: guard, prefix: o.Prefix}
	if a.prefix == "" {
		a.prefix = DefaultPrefix
	}
	if !validPrefix(a.prefix) {
		return nil, fmt.Errorf("httpapi: Options.Prefix is %q: begin and end it with a slash, and use letters, digits and -._~ between", o.Prefix)
	}
	if a.catalog, err = app.Catalog(ambit.HTTP, a.render); err != nil {
		return nil, err
	}
	if a.routes, err = newRoutes(app); err != nil {
		return nil, err
	}
	a.paths = make(map[string]string, len(a.routes))
	for _, at := range a.routes {
		a.paths[at.name] = a.prefix + at.asked[1:]
	}
	a.pool.New = func() any { return new(buffers) }
	return a, nil
}

// ServeHTTP answers one request.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchange{api: a, w: w, r: r, id: trust.RequestID(r)}
	var refused *ambit.Error
	if x.identity, refused = a.guard.Admit(r); refused != nil {
		x.fail(refused)
		return
	}
	path, ok := a.path(r)
	switch {
	case !ok:
		x.fail(a.nothing(r))
	case path == "":
		x.list()
	default:
		x.call(path)
	}
}

// nothing is the answer at a path at which no capability can be.
func (a *api) nothing(r *http.Request) *ambit.Error {
	e := ambit.Errorf(ambit.CodeNotFound, "There is nothing at this path.")
	if r.Method == http.MethodPost && !strings.HasPrefix(r.URL.Path, a.prefix) {
		e.Hint = "Capabilities are called below " + a.prefix + "."
	}
	return e
}

// path returns what of the request's path comes after the prefix, "" for the
// prefix itself. It reports false for a path at which no capability can be.
// Characters that a path needs no escapes for must not be escaped either.
func (a *api) path(r *http.Request) (path string, ok bool) {
	full := r.URL.Path
	if full == a.prefix || len(full) == len(a.prefix)-1 && full == a.prefix[:len(full)] {
		return "", r.URL.RawPath == ""
	}
	path, ok = strings.CutPrefix(full, a.prefix)
	if !ok || r.URL.RawPath != "" {
		return "", false
	}
	path = strings.TrimSuffix(path, "/")
	return path, validPath(path)
}
