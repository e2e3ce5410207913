package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
)

// soakAddressee is one of the two ways in: how a call is written, and how its
// answer is read.
type soakAddressee struct {
	name    string
	request func(capability, input string) soakRequest
	result  func(soakAnswer) (soakResult, error)
}

// soakResult is what an answer says.
type soakResult struct {
	code   ambit.Code // empty: success
	output string     // JSON text
}

// addressees are the ways in: the JSON API, and MCP of the newest and of the
// oldest revision.
func addressees() []soakAddressee {
	return []soakAddressee{
		{"HTTP", apiCall, apiResult},
		{"MCP", modernCall, mcpResult},
		{"MCP 2025-03-26", legacyCall, mcpResult},
	}
}

func apiCall(capability, input string) soakRequest {
	return soakRequest{method: http.MethodPost, path: "/api/soak/" + capability, body: input}
}

func apiResult(a soakAnswer) (result soakResult, err error) {
	var envelope struct {
		OK    bool
		Data  json.RawMessage
		Error struct{ Code ambit.Code }
	}
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		return result, fmt.Errorf("status %d, %w: %.300s", a.status, err, a.body)
	}
	status := http.StatusOK
	if !envelope.OK {
		status = envelope.Error.Code.HTTPStatus()
	}
	if a.status != status || envelope.OK != (envelope.Error.Code == "") {
		return result, fmt.Errorf("status %d does not go with %.300s", a.status, a.body)
	}
	return soakResult{envelope.Error.Code, string(envelope.Data)}, nil
}

const (
	takesBoth  = "application/json, text/event-stream"
	modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
)

func modernCall(capability, input string) soakRequest {
	return modernRequest("tools/call", "soak_"+capability, `"arguments":`+input, "")
}

// modernRequest writes a request of the newest revision; params and meta are
// members to add.
func modernRequest(method, name, params, meta string) soakRequest {
	header := map[string]string{"Accept": takesBoth, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	members := `"_meta":{` + modernMeta + meta + `}`
	if name != "" {
		header["Mcp-Name"] = name
		members += `,"name":"` + name + `"`
	}
	if params != "" {
		members += "," + params
	}
	return soakRequest{
		method: http.MethodPost, path: "/mcp", header: header,
		body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + members + `}}`,
	}
}

func legacyCall(capability, input string) soakRequest {
	return soakRequest{
		method: http.MethodPost, path: "/mcp", header: map[string]string{"Accept": takesBoth},
		body: legacyMessage(1, capability, input),
	}
}

func legacyMessage(id int, capability, input string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"soak_%s","arguments":%s}}`, id, capability, input)
}

// mcpResult reads the response that ends an answer, whether it stands alone or
// at the end of a stream.
func mcpResult(a soakAnswer) (soakResult, error) {
	messages := mcpMessages(a)
	if a.status != http.StatusOK || len(messages) == 0 {
		return soakResult{}, fmt.Errorf("status %d, %d messages: %.300s", a.status, len(messages), a.body)
	}
	return toolResult([]byte(messages[len(messages)-1]))
}

func toolResult(response []byte) (result soakResult, err error) {
	var message struct {
		Result *struct {
			IsError bool
			Content []struct{ Text string }
			Meta    struct {
				Error struct{ Code ambit.Code } `json:"dev.ambit/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(response, &message); err != nil {
		return result, fmt.Errorf("%w: %.300s", err, response)
	}
	r := message.Result
	if r == nil || len(r.Content) != 1 || r.IsError != (r.Meta.Error.Code != "") {
		return result, fmt.Errorf("no result of a tool: %.300s", response)
	}
	return soakResult{r.Meta.Error.Code, r.Content[0].Text}, nil
}

// mcpMessages returns the messages of an answer.
func mcpMessages(a soakAnswer) (messages []string) {
	if a.header.Get("Content-Type") != "text/event-stream" {
		return []string{a.body}
	}
	for line := range strings.Lines(a.body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			messages = append(messages, strings.TrimSpace(data))
		}
	}
	return messages
}
