package command_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// What "agent sign" writes verifies with the key that "agent keygen" has shown.
func TestAgentCommandsAgreeWithTheVerifier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.jwk")
	run := func(stdin string, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := command.Run(context.Background(), newHello(), command.Options{}, args, strings.NewReader(stdin), &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
		}
		return stdout.String()
	}
	key, err := webbotauth.ParseKey([]byte(run("", "agent", "keygen", path)))
	if err != nil {
		t.Fatal(err)
	}
	agents, err := webbotauth.New(webbotauth.Options{Agents: []webbotauth.Agent{{URL: "https://agent.test", Keys: []webbotauth.Key{key}}}, PublicURL: "https://app.test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agents.Close() }()
	private, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for level, body := range map[string]string{"identity": "", "request": "{}", "once": `{"a":1}`} {
		printed := run(body, "agent", "sign", "POST", "https://app.test/api/x?y", "-", "--key", path, "--agent", "https://agent.test", "--level", level, "--header", "Authorization: Bearer x")
		r := httptest.NewRequest(http.MethodPost, "/api/x?y", strings.NewReader(body))
		r.Host = "app.test"
		r.Header.Set("Authorization", "Bearer x")
		for line := range strings.Lines(printed) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r.Header.Set(name, value)
		}
		signed := agents.Verify(r)
		if signed == nil || signed.Settle == nil {
			t.Errorf("%s: %+v of\n%s", level, signed, printed)
			continue
		}
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := signed.Settle(context.Background(), content); got.Level.String() != level || got.Key != key.Thumbprint() {
			t.Errorf("%s: %+v", level, got)
		}
		if d := strings.SplitN(string(private), `"d":"`, 2); len(d) != 2 || strings.Contains(printed, d[1][:43]) {
			t.Errorf("%s: the private key is shown:\n%s", level, printed)
		}
	}
}
