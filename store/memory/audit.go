package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

type chain struct{ tenant, writer string }

type place struct {
	chain
	seq uint64
}

var errTaken = errors.New("memory: another record has this name or place")

func placeOf(e *audit.Entry) place { return place{chain{e.Tenant, e.Writer}, e.Seq} }

// record adds an entry if there is one.
func (s *Store) record(e *audit.Entry) error {
	if e == nil {
		return nil
	}
	return s.appendAll([]audit.Entry{*e})
}

// Append adds entries, see [audit.Store].
func (s *Store) Append(ctx context.Context, entries ...audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendAll(entries)
}

func (s *Store) appendAll(entries []audit.Entry) error {
	for i := range entries {
		at := placeOf(&entries[i])
		if s.places[at] || slices.ContainsFunc(entries[:i], func(e audit.Entry) bool { return placeOf(&e) == at }) {
			return fmt.Errorf("entry %d of writer %s: %w", at.seq, at.writer, errTaken)
		}
	}
	for _, e := range entries {
		s.places[placeOf(&e)] = true
		s.appended++
		s.entries = append(s.entries, numbered{cloneEntry(e), s.appended})
	}
	return nil
}

func cloneEntry(e audit.Entry) audit.Entry {
	e.Body, e.MAC = bytes.Clone(e.Body), bytes.Clone(e.MAC)
	return e
}

// Entries returns a page of entries, see [audit.Store].
func (s *Store) Entries(ctx context.Context, q audit.Query) (page []audit.Entry, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	after, limit, err := lifecycle.Page(q.After, q.Limit, 100, 1000)
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := slices.Clone(s.entries)
	if q.Writer != "" { // a chain goes by its own numbers
		entries = slices.DeleteFunc(entries, func(e numbered) bool { return e.Tenant != q.Tenant || e.Writer != q.Writer })
		for i := range entries {
			entries[i].number = int64(entries[i].Seq)
		}
		slices.SortFunc(entries, func(a, b numbered) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	if q.Newest {
		slices.Reverse(entries)
	}
	for i := range entries {
		e := &entries[i]
		if after > 0 && (q.Newest && e.number >= after || !q.Newest && e.number <= after) || !asked(&e.Entry, &q) {
			continue
		}
		if len(page) == limit {
			return page, next, nil
		}
		page, next = append(page, cloneEntry(e.Entry)), strconv.FormatInt(e.number, 10)
	}
	return page, "", nil
}

func asked(e *audit.Entry, q *audit.Query) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return e.Tenant == q.Tenant && (q.Since.IsZero() || !e.Time.Before(q.Since)) && (q.Until.IsZero() || e.Time.Before(q.Until)) &&
		is(q.Writer, e.Writer) && (q.Writer == "" || e.Seq >= q.FromSeq) && is(q.Kind, e.Kind) && is(q.Principal, e.Principal) && is(q.Capability, e.Capability) &&
		is(q.Call, e.Call) && is(q.Run, e.Run) && is(q.Proposal, e.Proposal)
}

// Chains returns the last entry of every chain of a tenant, see [audit.Store].
func (s *Store) Chains(ctx context.Context, tenant string) ([]audit.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := make(map[string]audit.Entry)
	for _, e := range s.entries {
		if e.Tenant == tenant && e.Seq > last[e.Writer].Seq {
			last[e.Writer] = cloneEntry(e.Entry)
		}
	}
	return sorted(last), nil
}

// Tenants returns every tenant that has a chain, see [audit.Store].
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tenants := make(map[string]string)
	for at := range s.places {
		tenants[at.tenant] = at.tenant
	}
	return sorted(tenants), nil
}

// Cuts returns the newest cut of each chain of a tenant, see [audit.Store].
func (s *Store) Cuts(ctx context.Context, tenant string) ([]audit.Cut, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cuts := make(map[string]audit.Cut)
	for of, c := range s.cuts {
		if of.tenant == tenant {
			cuts[of.writer] = cloneCut(c)
		}
	}
	return sorted(cuts), nil
}

// Prune removes the front of a chain, see [audit.Store].
func (s *Store) Prune(ctx context.Context, c audit.Cut) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := chain{c.Tenant, c.Writer}
	in := func(e *numbered) bool { return e.Tenant == c.Tenant && e.Writer == c.Writer }
	if !slices.ContainsFunc(s.entries, func(e numbered) bool { return in(&e) && e.Seq == c.Seq }) {
		return fmt.Errorf("memory: there is no entry %d of writer %s to cut at", c.Seq, c.Writer)
	}
	s.entries = slices.DeleteFunc(s.entries, func(e numbered) bool { return in(&e) && e.Seq <= c.Seq })
	s.cuts[of] = cloneCut(c)
	return nil
}

func cloneCut(c audit.Cut) audit.Cut {
	c.MAC, c.Signature = bytes.Clone(c.MAC), bytes.Clone(c.Signature)
	return c
}

// sorted returns the values of a map in the order of its keys.
func sorted[V any](of map[string]V) []V {
	list := make([]V, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, of[name])
	}
	return list
}
