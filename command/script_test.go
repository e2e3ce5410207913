package command_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/internal/leaktest"
)

var update = flag.Bool("update", false, "rewrite what the scripts in testdata want")

func TestMain(m *testing.M) {
	testscript.Main(withoutLeaks{m}, map[string]func(){
		"hello":   func() { command.Main(newHello(), command.Options{}) },
		"stock":   func() { newStockProgram().Main() },
		"keyed":   func() { newKeyedProgram("keys.json").Main() },
		"locked":  func() { command.Main(newLocked()) },
		"loaded":  func() { command.Main(newLoaded(), command.Options{}) },
		"audited": func() { newAuditedProgram().Main() },
		"decided": func() { newDecidedProgram().Main() },
		"filed":   func() { command.Main(newLoaded(), command.Options{HaltFile: "here"}) },
		"source":  func() { command.Main(newLoaded(ambit.HaltFile("own")), command.Options{}) },
		"kept":    func() { command.Main(newLoaded(), command.Options{Halts: table("table")}) },
		"both":    func() { command.Main(newLoaded(), command.Options{Halts: table("table"), HaltFile: "here"}) },
		"twice":   func() { command.Main(newLoaded(table("table")), command.Options{Halts: table("table")}) },
	})
}

// withoutLeaks are tests that must not leave a goroutine behind.
type withoutLeaks struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (m withoutLeaks) Run() int {
	code := leaktest.Patient(m.M).Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a program and wants its exit code: exits CODE PROGRAM [ARG...].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = failed.ExitCode()
	}
	if want != got {
		ts.Fatalf("exit code of %v: want %d, got %d", args[1:], want, got)
	}
}
