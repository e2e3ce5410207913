package ambit

import (
	"strings"

	"github.com/ambit-dev/ambit/schema"
)

// narrows reports whether a member of an input has a name that is commonly
// given to what makes a result smaller.
func narrows(member string) bool {
	switch strings.ToLower(strings.ReplaceAll(member, "_", "")) {
	case "limit", "pagesize", "perpage", "maxresults", "top", "first", "last", "count",
		"page", "cursor", "offset", "fields", "select", "columns",
		"query", "q", "filter", "from", "to", "since", "until", "before", "after":
		return true
	}
	return false
}

// narrower is the hint for a result that is too large: which members of the
// input could make it smaller.
func narrower(in *schema.Schema) string {
	var offers []string
	for _, member := range in.Members() {
		if narrows(member) {
			offers = append(offers, `"`+member+`"`)
		}
	}
	if len(offers) == 0 {
		return "Ask for something smaller."
	}
	return "Ask for less: set or tighten " + strings.Join(offers, ", ") + "."
}
