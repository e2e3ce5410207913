package interop_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the conformance suite says to testdata")

// suite is the program of the official conformance suite.
var suite = filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")

// roughEdges is the page that gives the reason for each scenario that fails.
var roughEdges = filepath.Join("..", "..", "..", "docs", "ROUGH_EDGES.md")

// promised are the scenarios that pass, whatever testdata says: -update cannot
// take one of them away.
var promised = map[string][]string{
	newest: append(promisedInBoth(),
		"server-initialize",
		"ping",
		"logging-set-level",
		"tools-call-with-logging",
	),
	modern: append(promisedInBoth(),
		"caching",
		"sep-2164-resource-not-found",
		"input-required-result-unsupported-methods",
	),
}

func promisedInBoth() []string {
	return []string{
		"tools-list",
		"tools-call-simple-text",
		"tools-call-image",
		"tools-call-audio",
		"tools-call-embedded-resource",
		"tools-call-mixed-content",
		"tools-call-error",
		"tools-call-with-progress",
		"server-sse-multiple-streams",
		"resources-list",
		"prompts-list",
		"dns-rebinding-protection",
	}
}

// TestConformance runs the official suite for both requirement sets against
// the fixture. testdata holds how every scenario ends: one that newly passes is
// as much a reason to look as one that newly fails.
func TestConformance(t *testing.T) {
	t.Parallel()
	edges, err := os.ReadFile(roughEdges)
	if err != nil {
		t.Fatal(err)
	}
	for revision, promised := range promised {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			scenarios := runSuite(t, serveConformance(t), revision)
			for _, name := range promised {
				if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name && s.met(revision) }) {
					t.Errorf("%s does not pass", name)
				}
			}
			for _, s := range scenarios {
				if s.verdict() == "fail" && !bytes.Contains(edges, []byte("`"+s.name+"`")) {
					t.Errorf("%s fails and is not explained in %s", s.name, roughEdges)
				}
			}
			compareGolden(t, filepath.Join("testdata", "conformance-"+revision+".txt"), format(scenarios))
		})
	}
}

// scenario is what one scenario of the suite found.
type scenario struct {
	name string
	// checks has the identifiers of the checks by how they ended: SUCCESS,
	// FAILURE, WARNING or SKIPPED.
	checks map[string][]string
}

// verdict is pass, fail, or, for a scenario in which nothing of its own could
// be tried, none. The suite counts none as passed.
func (s scenario) verdict() string {
	switch {
	case len(s.checks["FAILURE"]) > 0:
		return "fail"
	case slices.ContainsFunc(s.checks["SUCCESS"], func(id string) bool { return id != everywhere }):
		return "pass"
	default:
		return "none"
	}
}

// everywhere is the check that every scenario makes of every message.
const everywhere = "wire-schema-valid"

// met reports whether the scenario is as good as promised. The parallel streams
// of 2025-11-25 are tried within a session alone; a server that has none meets
// what there is to meet.
func (s scenario) met(revision string) bool {
	return s.verdict() == "pass" ||
		s.verdict() == "none" && revision == newest && s.name == "server-sse-multiple-streams"
}

// stamped matches the folder that the suite makes for a scenario.
var stamped = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// anHour is how many milliseconds a scenario may take: its own half minute is little
// on a busy machine.
const anHour = "3600000"

// runSuite runs the suite and returns what its scenarios found, by name.
func runSuite(t *testing.T, url, revision string) []scenario {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr, err := runNode(t, suite, "server", "--url", url, "--requirements", revision, "--output-dir", dir, "--timeout", anHour)
	// It ends with an error whenever a scenario fails, scored or not.
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatalf("conformance suite: %v", err)
	}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []scenario
	for _, folder := range folders {
		name := stamped.FindStringSubmatch(folder.Name())
		if name == nil {
			t.Fatalf("unknown output of the conformance suite: %s", folder.Name())
		}
		found = append(found, readScenario(t, name[1], filepath.Join(dir, folder.Name(), "checks.json")))
	}
	// A suite that could not start has no summary, and would compare as an
	// empty list.
	if len(found) == 0 || !bytes.Contains(stdout, []byte("=== SUMMARY ===")) {
		t.Fatalf("the conformance suite did not finish:\n%s\n%s", stdout, stderr)
	}
	slices.SortFunc(found, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	return found
}

func readScenario(t *testing.T, name, path string) scenario {
	t.Helper()
	s := scenario{name: name, checks: map[string][]string{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		// The scenario threw before it had anything to write down.
		s.checks["FAILURE"] = []string{"aborted"}
		return s
	}
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	decode(t, text, &checks)
	for _, c := range checks {
		s.checks[c.Status] = append(s.checks[c.Status], c.ID)
		if c.Status != "SUCCESS" {
			t.Logf("%s: %s %s: %s", name, c.Status, c.ID, c.ErrorMessage)
		}
	}
	return s
}

// format writes one line for each scenario, and below it one for each check
// that did not succeed.
func format(scenarios []scenario) []byte {
	var b bytes.Buffer
	for _, s := range scenarios {
		fmt.Fprintf(&b, "%s %s\n", s.verdict(), s.name)
		for _, status := range []string{"FAILURE", "WARNING", "SKIPPED"} {
			slices.Sort(s.checks[status])
			for _, id := range s.checks[status] {
				fmt.Fprintf(&b, "     %s %s\n", strings.ToLower(status), id)
			}
		}
	}
	return b.Bytes()
}

func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); -update writes it anew:\n%s", path, diff)
	}
}
