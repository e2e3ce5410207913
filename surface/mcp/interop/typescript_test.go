package interop_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// observeTypeScript uses the TypeScript SDK through a script of the clients
// folder, one for each generation. The era is legacy, auto or modern.
func observeTypeScript(script string) func(t *testing.T, to target, era string, calls []call) observation {
	return func(t *testing.T, to target, era string, calls []call) observation {
		t.Helper()
		job, err := json.Marshal(struct {
			target
			Era   string `json:"era"`
			Calls []call `json:"calls"`
		}{to, era, calls})
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, err := runNode(t, filepath.Join("clients", script), string(job))
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stderr)
		}
		var seen observation
		if err := json.Unmarshal(stdout, &seen); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stdout)
		}
		return seen
	}
}
