package audit

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// followEvery is how often the store is asked for new entries.
const followEvery = time.Second

// Entries returns a page of entries, as [Store.Entries] does. Who may ask for
// them is for the caller to see to.
func (l *Log) Entries(ctx context.Context, q Query) (page []Entry, next string, err error) {
	return l.store.Entries(ctx, q)
}

// Tenants returns every tenant that has a chain.
func (l *Log) Tenants(ctx context.Context) ([]string, error) { return l.store.Tenants(ctx) }

// Checkpoints returns what [Options.Checkpoints] took, where that is a [Source];
// none otherwise.
func (l *Log) Checkpoints(ctx context.Context) ([]Checkpoint, error) {
	if source, ok := l.options.Checkpoints.(Source); ok {
		return source.Checkpoints(ctx)
	}
	return nil, nil
}

// Follow gives the newest entries that a query asks for, as many as last says,
// and then those that are added, until ctx ends or each returns an error, which
// it returns. Those of one writer come in their order; those of several come
// within a second, and may be older than what has come already. After, Limit,
// Newest, Writer and FromSeq of the query have no meaning.
func (l *Log) Follow(ctx context.Context, q Query, last int, each func(Entry) error) error {
	seen, err := l.heads(ctx, q.Tenant)
	if err != nil {
		return err
	}
	q.After, q.Writer, q.FromSeq = "", "", 0
	q.Limit, q.Newest = min(max(last, 1), 1000), true
	page, _, err := l.store.Entries(ctx, q)
	if err != nil {
		return err
	}
	page = page[:min(len(page), max(last, 0))]
	for _, e := range slices.Backward(page) {
		seen[e.Writer] = max(seen[e.Writer], e.Seq)
		if err := each(e); err != nil {
			return err
		}
	}
	q.Limit, q.Newest = 1000, false
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := l.followed(ctx, q, seen, each); err != nil {
			return err
		}
	}
}

// followed gives what was added to the chains.
func (l *Log) followed(ctx context.Context, q Query, seen map[string]uint64, each func(Entry) error) error {
	heads, err := l.heads(ctx, q.Tenant)
	if err != nil {
		return err
	}
	var added []Entry
	for writer, head := range heads {
		if head <= seen[writer] {
			continue
		}
		q.Writer, q.FromSeq, q.After = writer, seen[writer]+1, ""
		for {
			page, next, err := l.store.Entries(ctx, q)
			if err != nil {
				return err
			}
			for _, e := range page {
				head = max(head, e.Seq)
			}
			added = append(added, page...)
			if q.After = next; next == "" {
				break
			}
		}
		seen[writer] = head
	}
	slices.SortStableFunc(added, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	for _, e := range added {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// heads returns the number of the last entry of each chain.
func (l *Log) heads(ctx context.Context, tenant string) (map[string]uint64, error) {
	chains, err := l.store.Chains(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("audit: reading the chains: %w", err)
	}
	heads := make(map[string]uint64, len(chains))
	for _, head := range chains {
		heads[head.Writer] = head.Seq
	}
	return heads, nil
}
