package lifecycle

import (
	"strconv"

	"github.com/ambit-dev/ambit"
)

// Page reads the cursor and the limit of a list: the number that the last page
// ended with, 0 for none, and how many there may be on this one.
func Page(after string, limit, otherwise, most int) (from int64, size int, err error) {
	if after != "" {
		if from, err = strconv.ParseInt(after, 10, 64); err != nil || from <= 0 {
			return 0, 0, ambit.Invalid("/after", "The cursor is not one of this list: begin without one.")
		}
	}
	if limit <= 0 {
		limit = otherwise
	}
	return from, min(limit, most), nil
}
