package interop_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// inspector is the program that the Inspector's package installs.
var inspector = filepath.Join("node_modules", "@modelcontextprotocol", "inspector",
	"clients", "launcher", "build", "index.js")

// observeInspector uses the Inspector's command line, which does one thing per
// process. The era is legacy or modern. It is curt: it looks a tool up in the
// list before it calls, so that the server never hears of an unknown one.
func observeInspector(t *testing.T, to target, era string, calls []call) observation {
	t.Helper()
	var list struct {
		Tools []struct{ Name string }
	}
	// The strict check reports schemas that some provider would refuse, and
	// fails when there is one.
	answer, problem := runInspector(t, to, era, "--method", "tools/list", "--strict")
	if problem != "" {
		t.Fatalf("tools/list --strict: %s", problem)
	}
	decode(t, answer, &list)
	var seen observation
	for _, tool := range list.Tools {
		seen.Tools = append(seen.Tools, tool.Name)
	}
	for _, call := range calls {
		args := []string{"--method", "tools/call", "--tool-name", call.Name}
		if call.Arguments != nil {
			text, err := json.Marshal(call.Arguments)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, "--tool-args-json", string(text))
		}
		answer, problem := runInspector(t, to, era, args...)
		seen.Outcomes = append(seen.Outcomes, inspectorOutcome(t, answer, problem))
	}
	return seen
}

// runInspector runs one command and returns the result that it prints, or the
// word that the Inspector has for what went wrong, or both.
func runInspector(t *testing.T, to target, era string, args ...string) (result json.RawMessage, problem string) {
	t.Helper()
	server := to.Command
	if to.URL != "" {
		server = []string{"--server-url", to.URL, "--transport", "http"}
		if to.Token != "" {
			server = append(server, "--header", "Authorization: Bearer "+to.Token)
		}
	}
	command := append([]string{"--cli"}, server...)
	command = append(command, "--protocol-era", era, "--format", "json", "--quiet")
	stdout, stderr, err := runNode(t, inspector, append(command, args...)...)
	var printed struct{ Result json.RawMessage }
	if len(stdout) > 0 {
		decode(t, stdout, &printed)
	}
	if err == nil {
		return printed.Result, ""
	}
	var envelope struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(stderr, &envelope) != nil || envelope.Error.Code == "" {
		t.Fatalf("inspector %q: %v\n%s", args, err, stderr)
	}
	return printed.Result, envelope.Error.Code
}

func inspectorOutcome(t *testing.T, answer json.RawMessage, problem string) outcome {
	t.Helper()
	if problem != "" && problem != "tool_is_error" {
		t.Fatalf("tools/call: %s", problem)
	}
	var result struct {
		Content           []struct{ Type, Text string }
		StructuredContent any
		IsError           bool
	}
	decode(t, answer, &result)
	o := outcome{Structured: result.StructuredContent, IsError: result.IsError}
	for _, content := range result.Content {
		if content.Type == "text" {
			o.Text = content.Text
			break
		}
	}
	return o
}

// decode parses what a client printed.
func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
