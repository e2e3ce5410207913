package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/audit"
)

// record adds an entry if there is one.
func (u *unit) record(ctx context.Context, e *audit.Entry) error {
	if e == nil {
		return nil
	}
	added, err := u.exec(ctx, `
		INSERT INTO {}entry (tenant, writer, seq, time, kind, principal, capability, call, run, proposal, body, mac)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
		WHERE NOT EXISTS (SELECT 1 FROM {}cut WHERE tenant = ?1 AND writer = ?2 AND seq >= ?3)
		ON CONFLICT (tenant, writer, seq) DO NOTHING`,
		e.Tenant, e.Writer, int64(e.Seq), encode.Time(e.Time), e.Kind, e.Principal, e.Capability, e.Call, e.Run, e.Proposal, bytesOf(e.Body), bytesOf(e.MAC))
	switch {
	case err != nil:
		return err
	case added == 0:
		return fmt.Errorf("sqlite: entry %d of writer %s: another one has this place", e.Seq, e.Writer)
	}
	return nil
}

// bytesOf returns bytes that are not NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Append adds entries, see [audit.Store].
func (s *Store) Append(ctx context.Context, entries ...audit.Entry) error {
	return s.write(ctx, func(ctx context.Context, u *unit) error {
		for i := range entries {
			if err := u.record(ctx, &entries[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

const entryColumns = "tenant, writer, seq, time, kind, principal, capability, call, run, proposal, body, mac, number"

func scanEntry(rows *sql.Rows) (e audit.Entry, number int64, err error) {
	var seq, at int64
	err = rows.Scan(&e.Tenant, &e.Writer, &seq, &at, &e.Kind, &e.Principal, &e.Capability, &e.Call, &e.Run, &e.Proposal, &e.Body, &e.MAC, &number)
	e.Seq, e.Time = uint64(seq), encode.ParseTime(at)
	return e, number, err
}

// Entries returns a page of entries, see [audit.Store].
func (s *Store) Entries(ctx context.Context, q audit.Query) (page []audit.Entry, next string, err error) {
	after, limit, err := lifecycle.Page(q.After, q.Limit, 100, 1000)
	if err != nil {
		return nil, "", err
	}
	where := condition{"tenant = ?", []any{q.Tenant}}
	order := "number"
	if q.Writer != "" {
		order = "seq"
		where.and("writer = ? AND seq >= ?", q.Writer, int64(q.FromSeq))
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
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, "SELECT "+entryColumns+" FROM {}entry WHERE "+where.text+" ORDER BY "+by+" LIMIT ?", append(where.args, limit+1)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		last := int64(0)
		for rows.Next() {
			if len(page) == limit {
				next = strconv.FormatInt(last, 10)
				return nil
			}
			e, number, err := scanEntry(rows)
			if err != nil {
				return err
			}
			if page, last = append(page, e), number; q.Writer != "" {
				last = int64(e.Seq)
			}
		}
		return rows.Err()
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// lastEntries goes from writer to writer by the index and takes the last entry of
// each: however many there are, it reads as many as there are chains.
const lastEntries = `
	WITH RECURSIVE chain (writer) AS (
		SELECT min(writer) FROM {}entry WHERE tenant = ?1
		UNION ALL
		SELECT (SELECT min(writer) FROM {}entry WHERE tenant = ?1 AND writer > chain.writer) FROM chain WHERE chain.writer IS NOT NULL
	)
	SELECT ` + entryColumns + ` FROM {}entry e
	WHERE tenant = ?1 AND (writer, seq) IN (
		SELECT writer, (SELECT max(seq) FROM {}entry WHERE tenant = ?1 AND writer = chain.writer) FROM chain WHERE writer IS NOT NULL
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
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, lastEntries, tenant)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			e, _, err := scanEntry(rows)
			if err != nil {
				return err
			}
			last = append(last, e)
		}
		return rows.Err()
	})
	return last, err
}

// Tenants returns every tenant that has a chain, see [audit.Store].
func (s *Store) Tenants(ctx context.Context) (tenants []string, err error) {
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, allTenants)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var tenant string
			if err := rows.Scan(&tenant); err != nil {
				return err
			}
			tenants = append(tenants, tenant)
		}
		return rows.Err()
	})
	return tenants, err
}

// Cuts returns the newest cut of each chain of a tenant, see [audit.Store].
func (s *Store) Cuts(ctx context.Context, tenant string) (cuts []audit.Cut, err error) {
	err = s.read(ctx, func(ctx context.Context, u *unit) error {
		rows, err := u.query(ctx, "SELECT tenant, writer, seq, mac, time, signature FROM {}cut WHERE tenant = ? ORDER BY writer", tenant)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c audit.Cut
			var seq, at int64
			if err := rows.Scan(&c.Tenant, &c.Writer, &seq, &c.MAC, &at, &c.Signature); err != nil {
				return err
			}
			c.Seq, c.Time = uint64(seq), encode.ParseTime(at)
			cuts = append(cuts, c)
		}
		return rows.Err()
	})
	return cuts, err
}

// Prune removes the front of a chain, see [audit.Store].
func (s *Store) Prune(ctx context.Context, c audit.Cut) error {
	return s.write(ctx, func(ctx context.Context, u *unit) error {
		var there bool
		err := u.queryRow(ctx, "SELECT 1 FROM {}entry WHERE tenant = ? AND writer = ? AND seq = ?", c.Tenant, c.Writer, int64(c.Seq)).Scan(&there)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("sqlite: there is no entry %d of writer %s to cut at", c.Seq, c.Writer)
		case err != nil:
			return err
		}
		if _, err := u.exec(ctx, "DELETE FROM {}entry WHERE tenant = ? AND writer = ? AND seq <= ?", c.Tenant, c.Writer, int64(c.Seq)); err != nil {
			return err
		}
		_, err = u.exec(ctx, "INSERT OR REPLACE INTO {}cut (tenant, writer, seq, mac, time, signature) VALUES (?, ?, ?, ?, ?, ?)",
			c.Tenant, c.Writer, int64(c.Seq), bytesOf(c.MAC), encode.Time(c.Time), bytesOf(c.Signature))
		return err
	})
}
