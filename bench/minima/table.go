package main

import (
	"fmt"
	"io"
	"strings"
)

// writeTable writes the rows in the order in which they were read.
func writeTable(out io.Writer, rows []*row) error {
	var table strings.Builder
	table.WriteString("| benchmark | side | time | x ambit | bytes | allocations | other |\n")
	table.WriteString("| --- | --- | ---: | ---: | ---: | ---: | --- |\n")
	ambit := make(map[string]float64)
	for _, r := range rows {
		if r.side == "ambit" {
			ambit[r.benchmark] = r.figures["ns/op"]
		}
	}
	for _, r := range rows {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %.0f | %.0f | %s |\n",
			r.benchmark, r.side, duration(r.figures["ns/op"]), ratio(r.figures["ns/op"], ambit[r.benchmark]),
			r.figures["B/op"], r.figures["allocs/op"], r.other())
	}
	_, err := io.WriteString(out, table.String())
	return err
}

// duration writes nanoseconds with three digits or so.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f us", ns/1e3)
	case ns < 1e9:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	return fmt.Sprintf("%.2f s", ns/1e9)
}

// ratio writes how many times as long as Ambit's side this one takes; nothing
// where Ambit has no side.
func ratio(ns, ambit float64) string {
	if ambit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ns/ambit)
}

// other writes the figure that only the start-up has.
func (r *row) other() string {
	kept, ok := r.figures["B/capability"]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f B kept per capability", kept)
}
