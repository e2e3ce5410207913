package command

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// behind returns the keys of the principals who stand behind an API key, of how its
// owners were given: a key as whoami writes it, or the name of another API key, for
// its holder and whoever stands behind that. A store that is nil has no names. What
// would be nobody is refused, since four eyes could not tell.
func behind(c *cobra.Command, store apikey.Store, owners []string) (keys []string, err error) {
	if len(owners) == 0 {
		return nil, nil
	}
	var held []apikey.Record
	if store != nil {
		if held, err = allKeys(c.Context(), store); err != nil {
			return nil, err
		}
	}
	for _, owner := range owners {
		_, authority, _, isKey := principalkey.Split(owner)
		of := func(r apikey.Record) bool { return r.Name == owner }
		if isKey {
			of = func(r apikey.Record) bool { return holder(r) == owner }
		}
		found := false
		for _, r := range held {
			if of(r) { // several, where one caller has several keys
				keys, found = append(append(keys, holder(r)), r.Behind...), true
			}
		}
		switch {
		case found:
		case !isKey:
			return nil, misused(c, fmt.Errorf("--owner: %q is neither the name of an API key here nor the key of a principal such as 0:/5:login/bob, which whoami writes", owner))
		case store != nil && authority == apikey.Authority:
			return nil, misused(c, fmt.Errorf("--owner: %q is who holds an API key here, and none of those that \"key list\" shows is theirs", owner))
		default: // of another authority, whose persons are not known here
			keys = append(keys, owner)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// holder returns the key of the principal who holds an API key.
func holder(r apikey.Record) string {
	return principalkey.Of(r.Tenant, apikey.Authority, cmp.Or(r.Subject, r.Name))
}
