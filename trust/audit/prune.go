package audit

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-dev/ambit"
)

// Prune removes the entries of a tenant that are older than before, from the
// front of each chain, and leaves a signed cut in the place of each. Who is
// recorded as the one who did it: it is for a person, at a terminal. Nothing is
// removed where Verify finds something wrong, which is told as an error then: what
// is removed cannot be looked into afterwards. It returns how many entries were
// removed.
func (l *Log) Prune(ctx context.Context, who *ambit.Principal, tenant string, before time.Time, checkpoints []Checkpoint) (removed uint64, err error) {
	report, err := l.Verify(ctx, tenant, checkpoints)
	if err != nil {
		return 0, err
	}
	if len(report.Findings) > 0 {
		return 0, &ambit.Error{
			Code: ambit.CodeConflict, Message: fmt.Sprintf("The record is not as it was written: %s", report.Findings[0].Text),
			Hint: "Find out what happened, with \"audit verify\", before anything is removed.",
		}
	}
	heads, err := l.store.Chains(ctx, tenant)
	if err != nil {
		return 0, fmt.Errorf("audit: reading the chains: %w", err)
	}
	for _, head := range heads {
		first, cuts, err := l.olderThan(ctx, tenant, head.Writer, before)
		if err != nil {
			return removed, err
		}
		if len(cuts) == 0 {
			continue
		}
		if err := l.recordPrune(ctx, who, cuts[len(cuts)-1], before); err != nil {
			return removed, err
		}
		for _, cut := range cuts {
			if err := l.cut(ctx, cut); err != nil {
				return removed, err
			}
			removed += cut.Seq - first + 1
			first = cut.Seq + 1
		}
	}
	return removed, nil
}

// pruneAtOnce is how many entries one transaction removes: in a store with one writer
// at a time, calls wait for it.
const pruneAtOnce = 1000

// olderThan returns the number of the first entry of a chain, and where to cut it, one
// time after the other, so that those at its front are removed that are older than a
// time.
func (l *Log) olderThan(ctx context.Context, tenant, writer string, before time.Time) (first uint64, cuts []Cut, err error) {
	for q := (Query{Tenant: tenant, Writer: writer, Limit: pruneAtOnce}); ; {
		page, next, err := l.store.Entries(ctx, q)
		if err != nil {
			return 0, nil, fmt.Errorf("audit: reading the entries: %w", err)
		}
		old := page
		if i := slices.IndexFunc(page, func(e Entry) bool { return !e.Time.Before(before) }); i >= 0 {
			old, next = page[:i], ""
		}
		if len(old) > 0 {
			if first == 0 {
				first = old[0].Seq
			}
			last := old[len(old)-1]
			cuts = append(cuts, Cut{Tenant: last.Tenant, Writer: last.Writer, Seq: last.Seq, MAC: last.MAC})
		}
		if q.After = next; next == "" {
			return first, cuts, nil
		}
	}
}

// recordPrune puts on record what is going to be removed, up to the last of the cuts.
func (l *Log) recordPrune(ctx context.Context, who *ambit.Principal, last Cut, before time.Time) error {
	record := Record{
		Kind: KindPrune, Tenant: last.Tenant, Principal: who.Key(), PrincipalKind: who.Kind.String(),
		Pruned: &Pruned{Writer: last.Writer, Through: last.Seq, Before: before.UTC().Truncate(time.Microsecond)},
	}
	err := l.With(ctx, record, func(ctx context.Context, e Entry) (bool, error) {
		err := l.store.Append(ctx, e)
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("audit: recording the removal: %w", err)
	}
	return nil
}

// cut removes the front of a chain, and leaves the cut, signed.
func (l *Log) cut(ctx context.Context, c Cut) error {
	c.Time = time.Now().UTC().Truncate(time.Microsecond)
	c.Signature = ed25519.Sign(l.signer, c.text())
	if err := l.store.Prune(ctx, c); err != nil {
		return fmt.Errorf("audit: removing entries: %w", err)
	}
	return nil
}
