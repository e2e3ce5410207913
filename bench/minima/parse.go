package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// row is one benchmark's side with the smallest figure of each unit.
type row struct {
	benchmark, side string
	figures         map[string]float64
}

// parse reads the lines of the form that the testing package documents: a name,
// a count, and pairs of figure and unit. It passes over every other line.
func parse(in io.Reader) ([]*row, error) {
	var rows []*row
	byName := make(map[string]*row)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		r := byName[fields[0]]
		if r == nil {
			r = &row{figures: make(map[string]float64)}
			name := strings.TrimPrefix(fields[0], "Benchmark")
			r.benchmark, r.side, _ = strings.Cut(name, "/")
			rows, byName[fields[0]] = append(rows, r), r
		}
		if err := r.add(fields[2:]); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("the input has no line of a benchmark")
	}
	return rows, nil
}

// add takes pairs of figure and unit and keeps the smaller figures.
func (r *row) add(pairs []string) error {
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		figure, err := strconv.ParseFloat(pairs[0], 64)
		if err != nil {
			return err
		}
		if before, ok := r.figures[pairs[1]]; !ok || figure < before {
			r.figures[pairs[1]] = figure
		}
	}
	return nil
}
