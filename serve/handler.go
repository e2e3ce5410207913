package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/surface/httpapi"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
)

// Handler returns an application as one handler: what the authenticators publish
// (see [trust.Front]), the JSON API, MCP where some capability is exposed on it, and
// 404 for every other path. It freezes the
// application and fails where application or options cannot work, or where MCP
// and something of the API have one path. It logs what the operator should know
// at the start, see [ambit.App.Notices] and [trust.Noticer]. Limits, TLS and Ready are not its
// concern: they belong to [ListenAndServe].
func Handler(app *ambit.App, o Options) (http.Handler, error) {
	api, err := httpapi.New(app, httpapi.Options{Trust: o.Trust, Prefix: o.prefix()})
	if err != nil {
		return nil, err
	}
	handler := api
	if offersMCP(app) {
		path := o.mcpPath()
		if err := checkPath(app, path, o.prefix()); err != nil {
			return nil, err
		}
		endpoint, err := mcp.New(app, mcp.Options{Trust: o.Trust, MinProtocol: o.MinProtocol, ElicitURLs: o.ElicitURLs})
		if err != nil {
			return nil, err
		}
		handler = &split{path: path, mcp: endpoint, api: api}
	}
	for _, notice := range app.Notices() {
		app.Logger().Warn(notice)
	}
	if names := outOfReach(app, o.Trust); len(names) > 0 {
		app.Logger().Warn("nobody can call " + strings.Join(names, ", ") + " over the network: a call takes a credential, and nothing here reads one: " +
			"give trust.Options Authenticators (package trust/apikey has one for API keys), or let everybody in by the permission ambit.Public")
	}
	for _, a := range o.Trust.Authenticators {
		if n, ok := a.(trust.Noticer); ok {
			for _, notice := range n.Notices() {
				app.Logger().Warn(notice, slog.String("authenticator", a.Name()))
			}
		}
	}
	if n, ok := o.Trust.Agents.(trust.Noticer); ok {
		for _, notice := range n.Notices() {
			app.Logger().Warn(notice)
		}
	}
	if o.Wrap != nil {
		if handler = o.Wrap(handler); handler == nil {
			return nil, errors.New("serve: Options.Wrap returned no handler")
		}
	}
	return trust.Front(o.Trust, handler)
}

// outOfReach names the capabilities that nobody can call, because the application
// reads no credentials.
func outOfReach(app *ambit.App, o trust.Options) []string {
	if len(o.Authenticators) > 0 {
		return nil
	}
	names := trust.OutOfReach(context.Background(), app, ambit.HTTP)
	for _, name := range trust.OutOfReach(context.Background(), app, ambit.MCP) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// split sends requests for one path to MCP and all others to the API.
type split struct {
	path     string
	mcp, api http.Handler
}

// ServeHTTP answers one request.
func (s *split) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawPath == "" && (r.URL.Path == s.path || strings.TrimSuffix(r.URL.Path, "/") == s.path) {
		s.mcp.ServeHTTP(w, r)
		return
	}
	s.api.ServeHTTP(w, r)
}

func offersMCP(app *ambit.App) bool {
	for _, contract := range app.Capabilities() {
		if contract.Spec().Expose.Has(ambit.MCP) {
			return true
		}
	}
	return false
}

// checkPath refuses a path of MCP that is no path or that the API has.
func checkPath(app *ambit.App, path, prefix string) error {
	if len(path) < 2 || path[0] != '/' || path[len(path)-1] == '/' || strings.ContainsAny(path, "?#%{} ") || strings.Contains(path, "//") {
		return fmt.Errorf("serve: Options.MCPPath is %q: begin it with a slash and end it without one, as in %q", path, DefaultMCPPath)
	}
	if path+"/" == prefix {
		return fmt.Errorf("serve: Options.MCPPath %q is the list of the API at %q: move one of them", path, prefix)
	}
	for _, contract := range app.Capabilities() {
		spec := contract.Spec()
		if spec.Expose.Has(ambit.HTTP) && httpapi.Path(prefix, spec) == path {
			return fmt.Errorf("serve: Options.MCPPath %q is the path of capability %q: move one of them", path, spec.Name)
		}
	}
	return nil
}
