package wire

import (
	"encoding/json"
	"fmt"

	"github.com/ambit-dev/ambit/bench/internal/workload"
)

// Revision is the revision of the protocol that every MCP exchange speaks.
const Revision = "2026-07-28"

// meta is what revision 2026-07-28 wants of every request.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + Revision + `",` +
	`"io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"}}`

// ToolCall returns the exchange that calls the tool with the valid order and
// expects the hits both as structured content and as text.
func ToolCall(path, tool string) *Exchange {
	return &Exchange{
		Path:   path,
		Header: mcpHeader("tools/call", tool),
		Body: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool +
			`","arguments":` + workload.ValidJSON + `,` + meta + `}}`),
		Verify: verifyToolCall,
	}
}

// ToolList returns the exchange that asks for the first page of tools and
// expects exactly size of them, each with both its schemas, and a cursor to the
// next page.
func ToolList(path string, size int) *Exchange {
	return &Exchange{
		Path:   path,
		Header: mcpHeader("tools/list", ""),
		Body:   []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`),
		Verify: func(body []byte) error { return verifyToolList(body, size) },
	}
}

func mcpHeader(method, name string) map[string]string {
	header := map[string]string{"Mcp-Protocol-Version": Revision, "Mcp-Method": method}
	if name != "" {
		header["Mcp-Name"] = name
	}
	return header
}

func verifyToolCall(body []byte) error {
	var answer struct {
		Result struct {
			ResultType        string                  `json:"resultType"`
			IsError           bool                    `json:"isError"`
			StructuredContent json.RawMessage         `json:"structuredContent"`
			Content           []struct{ Text string } `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	result := answer.Result
	if result.IsError || result.ResultType != "complete" || len(result.Content) != 1 {
		return fmt.Errorf("not a complete result with one text")
	}
	if err := sameHits(result.StructuredContent); err != nil {
		return fmt.Errorf("structured content: %w", err)
	}
	if err := sameHits([]byte(result.Content[0].Text)); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	return nil
}

func verifyToolList(body []byte, size int) error {
	var answer struct {
		Result struct {
			Tools []struct {
				Name         string          `json:"name"`
				Description  string          `json:"description"`
				InputSchema  json.RawMessage `json:"inputSchema"`
				OutputSchema json.RawMessage `json:"outputSchema"`
			} `json:"tools"`
			NextCursor string `json:"nextCursor"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if got := len(answer.Result.Tools); got != size {
		return fmt.Errorf("%d tools, want %d", got, size)
	}
	if answer.Result.NextCursor == "" {
		return fmt.Errorf("no cursor to the next page")
	}
	for _, tool := range answer.Result.Tools {
		if tool.Name == "" || tool.Description == "" || len(tool.InputSchema) < 100 || len(tool.OutputSchema) < 100 {
			return fmt.Errorf("tool %q is incomplete", tool.Name)
		}
	}
	return nil
}
