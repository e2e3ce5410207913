// Package interop_test lets foreign MCP clients and the official conformance
// suite loose on a server built with Ambit. It needs Node and the packages of
// package.json for most of that; see README.md.
package interop_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
)

// stdioArgument makes the test program the server of the stdio tests: clients
// start a command, and this one is built already, with the race detector where
// the tests have it.
const stdioArgument = "serve-stdio"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == stdioArgument {
		if err := serveStdio(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}
