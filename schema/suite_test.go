package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// suiteGroup is one schema of the official test suite with its instances.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func readSuite(t testing.TB, path string) []suiteGroup {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	return groups
}

func suiteFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/json-schema-test-suite/*.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("want at least 40 files of the suite, got %d (%v)", len(files), err)
	}
	return files
}

// refused reports whether a group refers outside of its schema and must therefore be an error.
func refused(file string, g suiteGroup) bool {
	switch file + ": " + g.Description {
	case "defs.json: validate definition against metaschema",
		"ref.json: remote ref, containing refs itself",
		"dynamicRef.json: strict-tree schema, guards against misspelled properties",
		"dynamicRef.json: tests for implementation dynamic anchor and reference link",
		"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
		"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
		"dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor":
		return true
	}
	return file == "refRemote.json"
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for _, path := range suiteFiles(t) {
		file := filepath.Base(path)
		t.Run(strings.TrimSuffix(file, ".json"), func(t *testing.T) {
			t.Parallel()
			for _, g := range readSuite(t, path) {
				t.Run(g.Description, func(t *testing.T) { runGroup(t, file, g) })
			}
		})
	}
}

func runGroup(t *testing.T, file string, g suiteGroup) {
	root, err := parseText(g.Schema, parseOptions{formats: file != "format.json"})
	if refused(file, g) {
		if err == nil {
			t.Errorf("want an error for a schema that refers outside, got none")
		}
		return
	}
	if err != nil {
		t.Fatalf("want no error, got %v", err)
	}
	s := finish(root, nil)
	for _, test := range g.Tests {
		faults := s.Check(test.Data, 0)
		if valid := faults == nil; valid != test.Valid {
			t.Errorf("%s: want valid %v, got %v %v\nschema %s\ndata %s", test.Description, test.Valid, valid, faults, s.JSON(), test.Data)
		}
		var raw json.RawMessage
		if decoded := s.Decode(test.Data, reflect.ValueOf(&raw).Elem(), 0); (decoded == nil) != (faults == nil) {
			t.Errorf("%s: Check says %v, Decode says %v", test.Description, faults, decoded)
		}
	}
}
