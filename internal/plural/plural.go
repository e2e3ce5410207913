// Package plural writes numbers of things in words. The plural of their nouns ends in
// s.
package plural

import "strconv"

// Of returns a number of things, as in "1 item" and "2 items".
func Of(n int, noun string) string { return strconv.Itoa(n) + " " + noun + S(n) }

// S returns what follows the noun of so many things: "s", or "" for one.
func S(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
