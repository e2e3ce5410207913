//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
)

// TestMain lets the test binary be started again as a server, as the program
// does with itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-serve" {
		main()
		return
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}

func TestRun(t *testing.T) {
	p := plan{sides: sideNames(), connections: 4, requests: 16, rounds: 2, limit: time.Hour}
	var out strings.Builder
	if err := run(t.Context(), "", p, nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, name := range sideNames() {
		if !strings.Contains(out.String(), name) {
			t.Errorf("the table has no row for %s:\n%s", name, out.String())
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	good := plan{sides: []string{"empty"}, connections: 1, requests: 1, rounds: 1, limit: time.Hour}
	for name, change := range map[string]func(*plan){
		"no connections":                  func(p *plan) { p.connections = 0 },
		"fewer requests than connections": func(p *plan) { p.connections = 2 },
		"no rounds":                       func(p *plan) { p.rounds = 0 },
		"no time":                         func(p *plan) { p.limit = 0 },
		"unknown side":                    func(p *plan) { p.sides = []string{"nobody"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := good
			change(&p)
			var out strings.Builder
			if err := run(t.Context(), "", p, nil, &out); err == nil {
				t.Errorf("the plan is accepted:\n%s", out.String())
			}
		})
	}
}

func TestServeSideEndsWithItsInput(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), "empty", plan{}, strings.NewReader("\n\n"), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(out.String())
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "127.0.0.1:") {
		t.Errorf("got %q, want an address on loopback and two figures", lines)
	}
}

func TestPrintTable(t *testing.T) {
	t.Parallel()
	rounds := []round{
		{"empty": {cpu: 10_000, rate: 5}, "huma": {cpu: 20_000, rate: 1}},
		{"empty": {cpu: 40_000, rate: 1}, "huma": {cpu: 60_000, rate: 1}},
		{"empty": {cpu: 10_000, rate: 1}, "huma": {cpu: 18_000, rate: 3}},
	}
	var out strings.Builder
	if err := printTable(&out, plan{sides: []string{"empty", "huma"}}, rounds); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"empty", "10.0", "1.00", "5"}, {"huma", "18.0", "1.80", "3"}}
	var got [][]string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Fields(line))
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		t.Errorf("wrong lines (-want +got):\n%s", diff)
	}
	if got := ratio([]round{{"huma": {cpu: 1}}}, "huma"); got != "-" {
		t.Errorf("the ratio without an empty handler is %q, want a hyphen", got)
	}
}
