//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// round holds what each side did in one round, by name.
type round map[string]sample

// measureAll runs every round, the sides one after the other.
func measureAll(ctx context.Context, p plan) ([]round, error) {
	var rounds []round
	for range p.rounds {
		r := make(round)
		for _, name := range p.sides {
			s, err := measure(ctx, p, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			r[name] = s
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// printTable writes a line for each side.
func printTable(out io.Writer, p plan, rounds []round) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "side\tserver CPU us/request\tx empty\trequests/s\t")
	for _, name := range p.sides {
		best := rounds[0][name]
		for _, r := range rounds {
			if r[name].cpu < best.cpu {
				best = r[name]
			}
		}
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%.0f\t\n", name, float64(best.cpu)/1e3, ratio(rounds, name), best.rate)
	}
	return w.Flush()
}

// ratio returns the median of a side's ratios to the empty handler, or a hyphen
// where that was not measured.
func ratio(rounds []round, name string) string {
	var ratios []float64
	for _, r := range rounds {
		if empty, ok := r["empty"]; ok && empty.cpu > 0 {
			ratios = append(ratios, float64(r[name].cpu)/float64(empty.cpu))
		}
	}
	if len(ratios) == 0 {
		return "-"
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f", ratios[len(ratios)/2])
}
