package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

// addEntry is the statement that adds an entry, unless a condition follows that does
// not hold. It fails where the entry's place is taken, and where it was cut off: its
// number is NULL then, which is not allowed.
const addEntry = `
	INSERT INTO {}entry (tenant, writer, seq, time, kind, principal, capability, call, run, proposal, body, mac)
	SELECT $1, $2, CASE WHEN NOT EXISTS (SELECT 1 FROM {}cut WHERE tenant = $1 AND writer = $2 AND seq >= $3) THEN $3::bigint END,
		$4, $5, $6, $7, $8, $9, $10, $11, $12`

func entryValues(e *audit.Entry) []any {
	return []any{
		e.Tenant, e.Writer, int64(e.Seq), encode.Time(e.Time), e.Kind, e.Principal, e.Capability, e.Call, e.Run, e.Proposal, bytesOf(e.Body), bytesOf(e.MAC),
	}
}

// record queues an entry if there is one.
func (u *unit) record(e *audit.Entry) {
	if e != nil {
		u.queue(addEntry, entryValues(e)...)
	}
}

// recordMade queues an entry if there is one, for the case that the transaction has
// made a proposal.
func (u *unit) recordMade(e *audit.Entry, id string) {
	if e != nil {
		u.queue(addEntry+" WHERE EXISTS (SELECT 1 FROM {}proposal WHERE id = $13 AND xmin = pg_current_xact_id_if_assigned()::xid)", append(entryValues(e), id)...)
	}
}

// bytesOf returns bytes that are not NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Append adds entries, see [audit.Store]. They are one round trip and one
// transaction.
func (s *Store) Append(ctx context.Context, entries ...audit.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return placeError(s.send(ctx, func(u *unit) error {
		for i := range entries {
			u.record(&entries[i])
		}
		return nil
	}))
}

const entryColumns = "tenant, writer, seq, time, kind, principal, capability, call, run, proposal, body, mac, number"

func scanEntry(rows pgx.CollectableRow) (n numbered, err error) {
	var seq, at int64
	e := &n.entry
	err = rows.Scan(&e.Tenant, &e.Writer, &seq, &at, &e.Kind, &e.Principal, &e.Capability, &e.Call, &e.Run, &e.Proposal, &e.Body, &e.MAC, &n.number)
	e.Seq, e.Time = uint64(seq), encode.ParseTime(at)
	return n, err
}

// numbered is an entry and its number among all.
type numbered struct {
	entry  audit.Entry
	number int64
}

// Entries returns a page of entries, see [audit.Store].
func (s *Store) Entries(ctx context.Context, q audit.Query) (page []audit.Entry, next string, err error) {
	after, limit, err := lifecycle.Page(q.After, q.Limit, 100, 1000)
	if err != nil {
		return nil, "", err
	}
	var where condition
	where.and("tenant = ?", q.Tenant)
	order := "number"
	if q.Writer != "" {
		order = "seq"
		where.and("writer = ?", q.Writer)
		where.and("seq >= ?", int64(q.FromSeq))
	}
	switch {
	case q.Newest && after > 0:
		where.and(order+" < ?", after)
	case after > 0:
		where.and(order+" > ?", after)
	}
	by := order
	if q.Newest {
		by += " DESC"
	}
	if !q.Since.IsZero() {
		where.and("time >= ?", encode.Time(q.Since))
	}
	if !q.Until.IsZero() {
		where.and("time < ?", encode.Time(q.Until))
	}
	for _, is := range [...]struct{ column, value string }{
		{"kind", q.Kind}, {"principal", q.Principal}, {"capability", q.Capability}, {"call", q.Call}, {"run", q.Run}, {"proposal", q.Proposal},
	} {
		if is.value != "" {
			where.and(is.column+" = ?", is.value)
		}
	}
	where.args = append(where.args, limit+1)
	rows, err := s.pool.Query(ctx, s.text("SELECT "+entryColumns+" FROM {}entry WHERE "+where.text+" ORDER BY "+by+" LIMIT $"+strconv.Itoa(len(where.args))), where.args...)
	if err != nil {
		return nil, "", endedOr(ctx, err)
	}
	entries, err := pgx.CollectRows(rows, scanEntry)
	if err != nil {
		return nil, "", endedOr(ctx, err)
	}
	for i, e := range entries {
		if i == limit {
			last := entries[i-1]
			if next = strconv.FormatInt(last.number, 10); q.Writer != "" {
				next = strconv.FormatUint(last.entry.Seq, 10)
			}
			break
		}
		page = append(page, e.entry)
	}
	return page, next, nil
}

// lastEntries goes from writer to writer by the index and takes the last entry of
// each: however many there are, it reads as many as there are chains.
const lastEntries = `
	WITH RECURSIVE chain (writer) AS (
		SELECT min(writer) FROM {}entry WHERE tenant = $1
		UNION ALL
		SELECT (SELECT min(writer) FROM {}entry WHERE tenant = $1 AND writer > chain.writer) FROM chain WHERE chain.writer IS NOT NULL
	)
	SELECT ` + entryColumns + ` FROM {}entry e
	WHERE tenant = $1 AND (writer, seq) IN (
		SELECT writer, (SELECT max(seq) FROM {}entry WHERE tenant = $1 AND writer = chain.writer) FROM chain WHERE writer IS NOT NULL
	) ORDER BY writer`

// allTenants goes from tenant to tenant in the same way.
const allTenants = `
	WITH RECURSIVE known (tenant) AS (
		SELECT min(tenant) FROM {}entry
		UNION ALL
		SELECT (SELECT min(tenant) FROM {}entry WHERE tenant > known.tenant) FROM known WHERE known.tenant IS NOT NULL
	)
	SELECT tenant FROM known WHERE tenant IS NOT NULL UNION SELECT tenant FROM {}cut ORDER BY tenant`

// Chains returns the last entry of every chain of a tenant, see [audit.Store].
func (s *Store) Chains(ctx context.Context, tenant string) (last []audit.Entry, err error) {
	rows, err := s.pool.Query(ctx, s.text(lastEntries), tenant)
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	entries, err := pgx.CollectRows(rows, scanEntry)
	for _, e := range entries {
		last = append(last, e.entry)
	}
	return last, endedOr(ctx, err)
}

// Tenants returns every tenant that has a chain, see [audit.Store].
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	rows, err := s.pool.Query(ctx, s.text(allTenants))
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return tenants, endedOr(ctx, err)
}

// Cuts returns the newest cut of each chain of a tenant, see [audit.Store].
func (s *Store) Cuts(ctx context.Context, tenant string) ([]audit.Cut, error) {
	rows, err := s.pool.Query(ctx, s.text("SELECT tenant, writer, seq, mac, time, signature FROM {}cut WHERE tenant = $1 ORDER BY writer"), tenant)
	if err != nil {
		return nil, endedOr(ctx, err)
	}
	cuts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c audit.Cut, err error) {
		var seq, at int64
		err = row.Scan(&c.Tenant, &c.Writer, &seq, &c.MAC, &at, &c.Signature)
		c.Seq, c.Time = uint64(seq), encode.ParseTime(at)
		return c, err
	})
	return cuts, endedOr(ctx, err)
}

// Prune removes the front of a chain, see [audit.Store].
func (s *Store) Prune(ctx context.Context, c audit.Cut) error {
	there := false
	return s.transact(ctx, func(u *unit) {
		u.queue("SELECT 1 FROM {}entry WHERE tenant = $1 AND writer = $2 AND seq = $3 FOR UPDATE", c.Tenant, c.Writer, int64(c.Seq)).QueryRow(func(row pgx.Row) error {
			var one int
			err := row.Scan(&one)
			if there = err == nil; errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	}, func(u *unit) error {
		if !there {
			return fmt.Errorf("postgres: there is no entry %d of writer %s to cut at", c.Seq, c.Writer)
		}
		u.queue("DELETE FROM {}entry WHERE tenant = $1 AND writer = $2 AND seq <= $3", c.Tenant, c.Writer, int64(c.Seq))
		u.queue(`
			INSERT INTO {}cut (tenant, writer, seq, mac, time, signature) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (tenant, writer) DO UPDATE SET seq = $3, mac = $4, time = $5, signature = $6`,
			c.Tenant, c.Writer, int64(c.Seq), bytesOf(c.MAC), encode.Time(c.Time), bytesOf(c.Signature))
		return nil
	})
}
