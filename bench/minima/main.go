// Command minima reads what go test -bench prints and writes a Markdown table of
// each row's smallest figures, with every side's time as a multiple of Ambit's:
//
//	go test -run=NONE -bench=. -count=6 -cpu=1 . | go run ./minima
//
// The smallest is the one to compare, since a busy machine can only add.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "minima:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	rows, err := parse(in)
	if err != nil {
		return err
	}
	return writeTable(out, rows)
}
