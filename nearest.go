package ambit

import (
	"context"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit/internal/visible"
)

const (
	maxSuggestions = 3
	maxDistance    = 3
)

// quoteName quotes a foreign name for a message.
func quoteName(name string) string { return `"` + visible.Text(name) + `"` }

// suggest adds the nearest names to the answer for an unknown one, from the set
// that this caller may call; anonymous callers get none.
func (a *App) suggest(ctx context.Context, run *Run, name string, e *Error) *Error {
	if run.who().Anonymous() || len(name) > maxName {
		return e
	}
	var near []string
	for distance := 1; distance <= maxDistance && len(near) < maxSuggestions; distance++ {
		for _, entry := range slices.Concat(a.entries, run.own) {
			candidate := entry.name(run.surface)
			if len(near) < maxSuggestions && editDistance(name, candidate) == distance &&
				!a.admit(ctx, run, entry, false, nil).refused() {
				near = append(near, quoteName(candidate))
			}
		}
	}
	if len(near) > 0 {
		e.Hint = "Did you mean " + strings.Join(near, " or ") + "?"
	}
	return e
}

// editDistance is the Levenshtein distance of two names of at most 64 bytes,
// or more than maxDistance as soon as it is clear.
func editDistance(a, b string) int {
	if d := len(a) - len(b); d > maxDistance || d < -maxDistance {
		return maxDistance + 1
	}
	var rows [2][maxName + 1]int
	previous, current := &rows[0], &rows[1]
	for j := range len(b) + 1 {
		previous[j] = j
	}
	for i := range len(a) {
		current[0] = i + 1
		least := current[0]
		for j := range len(b) {
			cost := previous[j]
			if a[i] != b[j] {
				cost++
			}
			current[j+1] = min(cost, previous[j+1]+1, current[j]+1)
			least = min(least, current[j+1])
		}
		if least > maxDistance {
			return maxDistance + 1
		}
		previous, current = current, previous
	}
	return previous[len(b)]
}
