package ambittest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
)

// The revisions that a test host speaks.
const (
	revision2026 = "2026-07-28"
	revision2025 = "2025-11-25"
)

// message is a JSON-RPC 2.0 message from the server, as far as tests need it.
type message struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// ask sends one MCP request and returns its result. Members are the JSON texts
// of its parameters' members. Progress goes to the answer, and so does an error.
func (c *Client) ask(a *Answer, method, name string, members ...string) json.RawMessage {
	c.host.t.Helper()
	meta := `"progressToken":"progress"`
	if c.way == MCP {
		meta += `,"io.modelcontextprotocol/protocolVersion":"` + revision2026 + `"` +
			`,"io.modelcontextprotocol/clientInfo":{"name":"ambittest","version":"1"}` +
			`,"io.modelcontextprotocol/clientCapabilities":{}`
	}
	members = append(members, `"_meta":{`+meta+`}`)
	r := c.request(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+strings.Join(members, ",")+`}}`)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.way == MCP {
		r.Header.Set("Mcp-Protocol-Version", revision2026)
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	} else {
		r.Header.Set("Mcp-Protocol-Version", revision2025)
	}
	a.send(c.host.mcp, r)
	return a.read()
}

// read takes apart what came back: a message, or an event stream of several.
func (a *Answer) read() (result json.RawMessage) {
	a.t.Helper()
	messages := [][]byte{a.Body}
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		messages = nil
		for line := range bytes.Lines(a.Body) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
				messages = append(messages, data)
			}
		}
	}
	for _, text := range messages {
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			a.t.Fatalf("%s: want a JSON-RPC message, got status %d and %v:\n%s", a.call, a.Status, err, a.Body)
		}
		switch {
		case m.Method == "notifications/progress":
			a.progressed(m.Params)
		case m.Method != "":
		case m.Error != nil:
			a.Err = errorOf(m.Error.Code, m.Error.Message, m.Error.Data)
		default:
			result = m.Result
		}
	}
	if (result == nil) == (a.Err == nil) {
		a.t.Fatalf("%s: want one result or error, got status %d:\n%s", a.call, a.Status, a.Body)
	}
	return result
}

func (a *Answer) progressed(params json.RawMessage) {
	a.t.Helper()
	var p struct {
		Progress, Total float64
		Message         string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		a.t.Fatalf("%s: want progress, got %v:\n%s", a.call, err, params)
	}
	a.Progress = append(a.Progress, ambit.Progress{Done: p.Progress, Total: p.Total, Message: p.Message})
}

// errorOf makes the one shape of a protocol's own error, which carries it where
// it has one.
func errorOf(number int, message string, data json.RawMessage) *ambit.Error {
	e := &ambit.Error{}
	if json.Unmarshal(data, e) == nil && e.Code.Valid() {
		return e
	}
	code := ambit.CodeInternal
	if number == ambit.CodeNotFound.JSONRPC() {
		code = ambit.CodeNotFound
	}
	return ambit.Errorf(code, "%s", message).WithDetails(map[string]any{"jsonrpc": number})
}

// callTool calls over MCP.
func (c *Client) callTool(a *Answer, name, input string) {
	c.host.t.Helper()
	tool := strings.ReplaceAll(name, ".", "_")
	members := []string{`"name":` + quote(tool)}
	if input != "" {
		members = append(members, `"arguments":`+input)
	}
	text := c.ask(a, "tools/call", tool, members...)
	if text == nil {
		return
	}
	var result struct {
		IsError           bool
		StructuredContent json.RawMessage
		Content           []struct{ Type, Text string }
		Meta              struct {
			Error *ambit.Error `json:"dev.ambit/error"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(text, &result); err != nil {
		c.host.t.Fatalf("%s: want the result of a tool, got %v:\n%s", a.call, err, text)
	}
	switch {
	case result.IsError && result.Meta.Error == nil:
		c.host.t.Fatalf("%s: want an error object, got:\n%s", a.call, text)
	case result.IsError:
		a.Err = result.Meta.Error
	case result.StructuredContent != nil:
		a.Output = result.StructuredContent
	case len(result.Content) > 0:
		a.Output = c.outputOf(name, result.Content[0].Text)
	}
}

// outputOf returns the JSON text of an output that came as text alone: as it is,
// unless the output is a string or the text is no JSON.
func (c *Client) outputOf(name, text string) json.RawMessage {
	var published struct{ Type string }
	if contract := c.contract(name); contract != nil {
		_ = json.Unmarshal(contract.Output().JSON(), &published) // a schema without a type is not a string's
	}
	if published.Type == "string" || !json.Valid([]byte(text)) {
		return json.RawMessage(quote(text))
	}
	return json.RawMessage(text)
}

// quote returns a JSON string.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil { // a string has a JSON form
		return `""`
	}
	return string(text)
}

// listTools asks for a page of tools.
func (c *Client) listTools(cursor string) (names []string, next string, refused *ambit.Error) {
	c.host.t.Helper()
	var members []string
	if cursor != "" {
		members = append(members, `"cursor":`+quote(cursor))
	}
	a := &Answer{t: c.host.t, call: c.describe("the listing")}
	text := c.ask(a, "tools/list", "", members...)
	if text == nil {
		return nil, "", a.Err
	}
	var page struct {
		Tools []struct {
			Meta struct {
				Name string `json:"dev.ambit/name"`
			} `json:"_meta"`
		}
		NextCursor string
	}
	if err := json.Unmarshal(text, &page); err != nil {
		c.host.t.Fatalf("%s: want a page of tools, got %v:\n%s", a.call, err, text)
	}
	for _, tool := range page.Tools {
		names = append(names, tool.Meta.Name)
	}
	return names, page.NextCursor, nil
}
