package httpapi

import (
	"fmt"
	"strings"

	"github.com/ambit-dev/ambit"
)

// route is what stands at one path.
type route struct {
	name     string // dotted
	asked    string // what callers know it by: the path, with a slash in front
	maxInput int    // the capability's own, or zero
}

// newRoutes finds the path of everything that is exposed.
func newRoutes(app *ambit.App) (map[string]route, error) {
	routes := make(map[string]route)
	for _, contract := range app.Capabilities() {
		spec := contract.Spec()
		if !spec.Expose.Has(ambit.HTTP) {
			continue
		}
		path := Path("", spec)
		if other, taken := routes[path]; taken {
			return nil, fmt.Errorf("httpapi: capabilities %q and %q both have the path %q: give one of them another Path", other.name, spec.Name, path)
		}
		routes[path] = route{name: spec.Name, asked: "/" + path, maxInput: spec.MaxInput}
	}
	return routes, nil
}

// Path returns the path of a capability under an API's prefix.
func Path(prefix string, spec ambit.Spec) string {
	if spec.Path != "" {
		return prefix + strings.TrimPrefix(spec.Path, "/")
	}
	return prefix + strings.ReplaceAll(spec.Name, ".", "/")
}

// validPath reports whether a path has the form of a capability's path: static
// segments of unreserved characters (RFC 3986, section 2.3), neither empty nor
// dots. Whether a capability is there is another matter.
func validPath(path string) bool {
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			if !unreserved(path[i]) {
				return false
			}
			continue
		}
		if segment := path[start:i]; segment == "" || segment == "." || segment == ".." {
			return false
		}
		start = i + 1
	}
	return true
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.' || c == '~'
}

func validPrefix(prefix string) bool {
	inner, ok := strings.CutPrefix(prefix, "/")
	if !ok || inner == "" {
		return ok
	}
	inner, ok = strings.CutSuffix(inner, "/")
	return ok && validPath(inner)
}
