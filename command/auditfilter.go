package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit/internal/principalkey"
	"github.com/ambit-dev/ambit/trust/audit"
)

// auditFilter is what entries have to have, as flags say it.
type auditFilter struct {
	entries      audit.Query
	since, until string
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.entries.Kind, "kind", "", "`KIND` of entry: "+strings.Join(audit.Kinds(), ", "))
	c.Flags().StringVar(&f.entries.Principal, "principal", "", "`KEY` of the principal, as whoami writes it")
	c.Flags().StringVar(&f.entries.Capability, "capability", "", "`NAME` of the capability")
	c.Flags().StringVar(&f.entries.Call, "call", "", "`ID` of the call")
	c.Flags().StringVar(&f.entries.Run, "run", "", "`ID` of the run")
	c.Flags().StringVar(&f.entries.Proposal, "proposal", "", "`ID` of the proposal")
	c.Flags().StringVar(&f.since, "since", "", "from this `TIME` on, such as 2026-12-01, 2026-12-01T08:30:00Z, or 24h or 7d ago")
	c.Flags().StringVar(&f.until, "until", "", "up to this `TIME`")
}

// query returns what the flags ask for of a tenant. What no entry can have is
// refused: an empty answer would say that nothing of the kind has happened.
func (f *auditFilter) query(tenant string) (audit.Query, error) {
	q, now := f.entries, time.Now()
	if q.Kind != "" && !slices.Contains(audit.Kinds(), q.Kind) {
		return q, fmt.Errorf("--kind: %q is no kind of entry, which are %s", q.Kind, strings.Join(audit.Kinds(), ", "))
	}
	if _, _, _, ok := principalkey.Split(q.Principal); !ok && q.Principal != "" {
		return q, fmt.Errorf("--principal: %q is no key of a principal such as 0:/6:apikey/robot, which whoami writes", q.Principal)
	}
	q.Tenant = tenant
	var err error
	if q.Since, err = timeOf(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = timeOf(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	return q, nil
}

// timeOf reads a date (its beginning, UTC), a time, or how long ago it was; the
// zero time of no text.
func timeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	var ago lifetime
	if err := ago.Set(text); err != nil {
		return time.Time{}, fmt.Errorf("%q is no time such as 2026-12-01, 2026-12-01T08:30:00Z, 24h or 7d", text)
	}
	return now.Add(-time.Duration(ago)).UTC(), nil
}
