package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// warnUntaken tells whoever makes a key which of its permissions nothing takes here,
// as where a name is misspelled. The application's own policy or handlers may know
// them, so that the key is made all the same.
func warnUntaken(w io.Writer, app *ambit.App, record apikey.Record) {
	taken := map[string]bool{}
	for _, contract := range app.Capabilities() {
		if permission := contract.Spec().Permission; permission != ambit.Public && permission != ambit.Authenticated {
			taken[permission] = true
		}
	}
	names := slices.Sorted(maps.Keys(taken))
	for _, contract := range app.Capabilities() {
		if terms, ok := app.Terms(contract.Name()); ok {
			taken[terms.DecidePermission] = true
		}
	}
	for _, permission := range []string{ambit.DefaultDecidePermission, PermissionReadAudit, PermissionPruneAudit, PermissionAuditTenants} {
		taken[permission] = true
	}
	known := "those that there are take " + strings.Join(names, ", ")
	if len(names) == 0 {
		known = "there is none that takes one"
	}
	for _, permission := range record.Permissions {
		if !taken[permission] {
			_, _ = fmt.Fprintf(w, "warning: no capability takes the permission \"%s\": %s\n", visible.Text(permission), visible.Text(known))
		}
	}
}
