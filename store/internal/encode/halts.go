package encode

import (
	"fmt"
	"slices"

	"github.com/ambit-dev/ambit"
)

// Halts reads the rows of a table of halts. One that is no halt stops everything,
// and the error, which is an [*ambit.MisreadHalts], says so.
func Halts(table string, rows []string) (halts []ambit.Halt, err error) {
	var misread ambit.MisreadHalts
	for _, row := range rows {
		halt, err := ambit.ParseHalt(row)
		if err != nil {
			misread.Faults = append(misread.Faults, fmt.Errorf("table %s: %w", table, err))
			continue
		}
		halts = append(halts, halt)
	}
	if len(misread.Faults) == 0 {
		return halts, nil
	}
	if all := (ambit.Halt{Kind: ambit.HaltAll}); !slices.Contains(halts, all) {
		halts = append(halts, all)
	}
	return halts, &misread
}

// Halt returns the row of a halt. One that is none stops everything.
func Halt(halt ambit.Halt) string {
	if _, err := ambit.ParseHalt(halt.String()); err != nil {
		halt = ambit.Halt{Kind: ambit.HaltAll}
	}
	return halt.String()
}
