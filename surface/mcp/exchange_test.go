package mcp_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/exchangetest"
	"github.com/ambit-dev/ambit/surface/mcp"
	"github.com/ambit-dev/ambit/trust"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

var update = flag.Bool("update", false, "write the answers that came into testdata")

// TestExchanges sends the requests of testdata/exchanges and compares whole
// answers. An archive holds pairs of "NAME: request" and "NAME: answer"; its
// comment says what they have in common. Files whose name begins with "open"
// are for a server without authenticators, those with "min" for one that serves
// nothing older than 2025-11-25, those with "keyed" for an application that keeps
// a record of idempotency keys.
func TestExchanges(t *testing.T) {
	t.Parallel()
	client().Run(t, "testdata/exchanges/*.txtar", func(t *testing.T, name string) http.Handler {
		var o ambit.Options
		options := withPeople()
		switch {
		case strings.HasPrefix(name, "open"):
			options = mcp.Options{Trust: trust.Options{AllowUnauthenticated: true}}
		case strings.HasPrefix(name, "min"):
			options.MinProtocol = "2025-11-25"
		case strings.HasPrefix(name, "keyed"):
			o.Ledger = idempotency.NewMemory(idempotency.Options{})
		}
		return newServer(t, fixture(o), options)
	})
}

// client sends what every client of MCP sends. "modern NAME" among the headers stands
// for those that revision 2026-07-28 wants of a method, META in a body for its _meta
// members, ELICITS for those of a client which can show an address.
func client() exchangetest.Client {
	return exchangetest.Client{
		Header: func(method string) http.Header {
			header := http.Header{"X-Request-Id": {"test"}}
			if method == http.MethodPost {
				header["Accept"] = []string{"application/json, text/event-stream"}
				header["Content-Type"] = []string{"application/json"}
			}
			return header
		},
		Short: func(header http.Header, line string) bool {
			call, modern := strings.CutPrefix(line, "modern ")
			if modern {
				modernHeaders(header, strings.Fields(call))
			}
			return modern
		},
		Body: func(body []byte) []byte {
			body = bytes.ReplaceAll(body, []byte("META"), []byte(modernMeta))
			body = bytes.ReplaceAll(body, []byte("ELICITS"), []byte(elicits))
			return repeated.ReplaceAllFunc(body, repeat)
		},
		Update: *update,
	}
}

// answer sends a request given as text and returns the answer as text.
func answer(t *testing.T, server http.Handler, text []byte) string {
	t.Helper()
	return client().Answer(t, server, text)
}

func render(recorder *httptest.ResponseRecorder) string { return exchangetest.Render(recorder) }

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

const elicits = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}`

// modernHeaders sets the headers for a method and the name that it has.
func modernHeaders(header http.Header, call []string) {
	header["Mcp-Protocol-Version"] = []string{"2026-07-28"}
	header["Mcp-Method"] = call[:1]
	if len(call) > 1 {
		header["Mcp-Name"] = call[1:2]
	}
}

// repeated matches N*(TEXT), which stands for TEXT so many times.
var repeated = regexp.MustCompile(`([0-9]+)\*\(([^)]*)\)`)

func repeat(match []byte) []byte {
	parts := repeated.FindSubmatch(match)
	n, _ := strconv.Atoi(string(parts[1])) // digits
	return bytes.Repeat(parts[2], n)
}
