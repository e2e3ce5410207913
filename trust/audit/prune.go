package audit

import (
	"context"
	"crypto/ed25519"
	"fmt"
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
		first, last, err := l.olderThan(ctx, tenant, head.Writer, before)
		if err != nil {
			return removed, err
		}
		if last.Seq == 0 {
			continue
		}
		if err := l.cut(ctx, who, last, before); err != nil {
			return removed, err
		}
		removed += last.Seq - first + 1
	}
	return removed, nil
}

// olderThan returns the number of the first entry of a chain, and the last of
// those at its front that are older than a time; the zero Entry where none is.
func (l *Log) olderThan(ctx context.Context, tenant, writer string, before time.Time) (first uint64, last Entry, err error) {
	for q := (Query{Tenant: tenant, Writer: writer, Limit: 1000}); ; {
		page, next, err := l.store.Entries(ctx, q)
		if err != nil {
			return 0, Entry{}, fmt.Errorf("audit: reading the entries: %w", err)
		}
		for _, e := range page {
			if !e.Time.Before(before) {
				return first, last, nil
			}
			if first == 0 {
				first = e.Seq
			}
			last = e
		}
		if next == "" {
			return first, last, nil
		}
		q.After = next
	}
}

// cut removes the front of a chain. What is going to be removed goes on record
// first.
func (l *Log) cut(ctx context.Context, who *ambit.Principal, last Entry, before time.Time) error {
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
	cut := Cut{Tenant: last.Tenant, Writer: last.Writer, Seq: last.Seq, MAC: last.MAC, Time: time.Now().UTC().Truncate(time.Microsecond)}
	cut.Signature = ed25519.Sign(l.signer, cut.text())
	if err := l.store.Prune(ctx, cut); err != nil {
		return fmt.Errorf("audit: removing entries: %w", err)
	}
	return nil
}
