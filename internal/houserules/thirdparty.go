package houserules

import (
	"fmt"
	"strings"
)

// A guest is a third-party module and the folders whose code may import it.
type guest struct {
	module string
	homes  []string
}

// guests lists all third-party modules. One without a home serves tests alone.
// A new one also needs its lines in docs/dependencies.md.
func guests() []guest {
	return []guest{
		{"github.com/go-json-experiment/json", []string{"internal/strictjson"}},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"schema", "bench"}},
		{"github.com/dunglas/httpsfv", nil},
		{"github.com/golang-jwt/jwt/v5", []string{"trust/oauth", "internal/issuertest", "bench"}},
		{"github.com/MicahParks/keyfunc/v3", []string{"trust/oauth"}},
		{"github.com/MicahParks/jwkset", []string{"trust/oauth"}},
		{"github.com/spf13/cobra", []string{"command", "cmd"}},

		{"github.com/ncruces/go-sqlite3", []string{"store/sqlite", "examples"}},
		{"github.com/jackc/pgx/v5", []string{"store/postgres", "surface/schedule/river", "internal/postgrestest", "examples"}},
		{"github.com/pressly/goose/v3", []string{"store/sqlite", "store/postgres"}},
		{"github.com/riverqueue/river", []string{"surface/schedule/river"}},
		{"github.com/grafana/sobek", []string{"surface/sandbox/sobek"}},
		{"github.com/evanw/esbuild", []string{"surface/sandbox/sobek"}},
		{"go.opentelemetry.io/otel/sdk", nil},
		{"go.opentelemetry.io/otel", []string{"ambitotel"}},

		{"github.com/modelcontextprotocol/go-sdk", []string{"surface/mcp/mcpsdk", "surface/mcp/interop", "bench"}},
		{"github.com/mark3labs/mcp-go", []string{"surface/mcp/interop", "bench"}},
		{"github.com/danielgtaylor/huma/v2", []string{"bench"}},
		{"github.com/google/jsonschema-go", []string{"bench"}},

		{"github.com/google/go-cmp", []string{"ambittest", "store/storetest", "internal/exchangetest", "bench"}},
		{"github.com/chromedp/chromedp", nil},
		{"github.com/chromedp/cdproto", nil},
		{"github.com/oauth2-proxy/mockoidc", nil},
		{"github.com/rogpeppe/go-internal", []string{"internal/exchangetest"}},
		{"go.uber.org/goleak", []string{"internal/leaktest"}},
		{"pgregory.net/rapid", []string{"store/storetest"}},
	}
}

// thirdParty checks that a third-party module is imported only where it is at
// home. Tests may use any module that the house knows.
func thirdParty(tree *Tree) []Breach {
	var found []Breach
	known := guests()
	for _, file := range tree.Files {
		for _, spec := range file.Syntax.Imports {
			name := importPath(spec)
			if !tree.foreign(name) {
				continue
			}
			if why := notAtHome(known, name, file); why != "" {
				found = append(found, Breach{file.Path, tree.line(spec.Pos()), why})
			}
		}
	}
	return found
}

func notAtHome(known []guest, imported string, file *File) string {
	for _, guest := range known {
		if !under(imported, guest.module) {
			continue
		}
		if file.Test {
			return ""
		}
		for _, home := range guest.homes {
			if under(file.Dir, home) {
				return ""
			}
		}
		if len(guest.homes) == 0 {
			return fmt.Sprintf("imports %s, which serves tests alone", guest.module)
		}
		return fmt.Sprintf("imports %s, which is at home in %s", guest.module, strings.Join(guest.homes, ", "))
	}
	return fmt.Sprintf("imports %s, a dependency that the house does not know", imported)
}
