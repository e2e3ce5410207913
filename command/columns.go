package command

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ambit-dev/ambit/internal/visible"
)

// columns lays out rows of cells, which are text from elsewhere; an empty cell
// is shown as a dash.
func columns(w io.Writer, rows [][]string) error {
	var out bytes.Buffer
	layout := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = visible.Text(cell); cell == "" {
				cells[i] = "-"
			}
		}
		if _, err := io.WriteString(layout, strings.Join(cells, "\t")+"\n"); err != nil {
			return err
		}
	}
	if err := layout.Flush(); err != nil {
		return err
	}
	_, err := out.WriteTo(w)
	return err
}
