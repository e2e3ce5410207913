package serve_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/apikey"
)

var listedName = regexp.MustCompile(`"name":"([a-z_.]+)","description"`)

// Each caller is listed what it can call, the same on both surfaces and in every
// revision.
func TestT08_EachCallerHasItsOwnCatalog(t *testing.T) {
	t.Parallel()
	keys, sent := credentials(t)
	handler := oracle(t, ambit.HTTP, true, trust.Options{Authenticators: []trust.Authenticator{keys}})
	lists := map[string]probe{"HTTP": {method: "GET", path: "/api/"}}
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		lists["MCP "+revision] = probe{method: "POST", path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header: map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": revision,
		}}
	}
	lists["MCP 2026-07-28"] = probe{
		method: "POST", path: "/mcp",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		header: map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list",
		},
	}
	all := []string{"greet", "notes_read", "notes_scoped"}
	for who, want := range map[string][]string{
		"weak": all[:1], "scopeless": all[:2], "unscoped": all, "strong": all, "agent": all,
	} {
		for _, way := range slices.Sorted(maps.Keys(lists)) {
			text := answer(handler, lists[way].request("", sent[who]))
			var got []string
			for _, match := range listedName.FindAllStringSubmatch(text, -1) {
				if name := strings.ReplaceAll(match[1], ".", "_"); name != "inside_job" { // which is on MCP alone
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s over %s (-want +got):\n%s\n%s", who, way, diff, text)
			}
		}
	}
}

// downStore is a store of keys that does not answer.
type downStore struct{ apikey.Store }

func (downStore) ByHash(context.Context, string) (apikey.Record, bool, error) {
	return apikey.Record{}, false, errors.New("dial tcp 10.0.0.7: connection refused")
}

func (downStore) List(context.Context, string, int) ([]apikey.Record, error) { return nil, nil }

// Where nobody can tell whether a key is valid, its holder is told so: it is
// neither let in, nor taken for anonymous, nor told that its key is bad.
func TestT03_StoreOfKeysIsDown(t *testing.T) {
	t.Parallel()
	app := ambit.New(ambit.Options{Name: "down"})
	app.Add(greet(ambit.HTTP | ambit.MCP))
	handler, err := serve.Handler(app, serve.Options{Trust: trust.Options{Authenticators: []trust.Authenticator{apikey.FromStore(downStore{})}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/greet", "/api/nothing", "/api/", "/mcp"} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+apikey.Generate())
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		text := recorder.Body.String()
		if recorder.Code != http.StatusServiceUnavailable || recorder.Header().Get("Retry-After") != "5" || recorder.Header().Get("WWW-Authenticate") != "" ||
			!strings.Contains(text, "Credentials cannot be checked at the moment.") || strings.Contains(text, "10.0.0.7") {
			t.Errorf("%s: want 503, when to come again and nothing else, got %d %v %s", path, recorder.Code, recorder.Header(), text)
		}
	}
}
