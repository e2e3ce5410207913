package main

import (
	"fmt"
	"io"
	"strings"
)

// writeTable writes the rows in the order in which they were read. Ratios are
// of CPU time where there is any, else of the time that passed.
func writeTable(out io.Writer, rows []*row) error {
	var table strings.Builder
	table.WriteString("| benchmark | side | CPU | x ambit | passed | bytes | allocations |\n")
	table.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	ambit := make(map[string]float64)
	for _, r := range rows {
		if r.side == "ambit" {
			ambit[r.benchmark] = r.cpu()
		}
	}
	for _, r := range rows {
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %.0f |\n",
			r.benchmark, r.side, duration(r.cpu()), ratio(r.cpu(), ambit[r.benchmark]),
			duration(r.figures["ns/op"]), r.bytes(), r.figures["allocs/op"])
	}
	_, err := io.WriteString(out, table.String())
	return err
}

// cpu returns the CPU time of one operation in nanoseconds.
func (r *row) cpu() float64 {
	if used, ok := r.figures["cpu-ns/op"]; ok {
		return used
	}
	return r.figures["ns/op"]
}

// bytes writes what one operation allocates, and what stays of it where that
// was measured.
func (r *row) bytes() string {
	allocated := fmt.Sprintf("%.0f", r.figures["B/op"])
	if kept, ok := r.figures["B/capability"]; ok {
		return fmt.Sprintf("%s, kept per capability %.0f", allocated, kept)
	}
	return allocated
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
