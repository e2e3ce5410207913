package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
)

// The rules of proposals are those of package lifecycle, which are asked about
// rows that a transaction has read and locked. What usually happens needs no such
// look: its statements say themselves when they hold, and go to the server as one
// transaction (see Store.atOnce). They are the plain case and nothing more; of
// everything else they write nothing, and lifecycle is asked. TestPlain compares
// the two.

// claimPlain queues what lifecycle.Row.Claim does where it makes the claim. It fails
// in every other case.
func (u *unit) claimPlain(c ambit.Claim) {
	operation := c.Binding.Operation()
	u.queue(`
		WITH made AS (
			UPDATE {}proposal SET state = 5, attempt = $2, key = $3, claimed = {now}, lapses = {now} + $4::bigint, closed = 0
			WHERE id = $5 AND kind = 0 AND operation = $6
			  AND (state = 1 AND execute_by > {now} AND level >= $7 OR state = 0 AND decide_by > {now} AND level = 1 AND $7 = 1)
			  AND preview IS NOT DISTINCT FROM $8
			RETURNING 1
		) SELECT 1 / count(*) FROM made`,
		u.ahead.Load(), encode.Attempt(c.Attempt), encode.Digest(c.Key), c.Lease.Microseconds(),
		c.Approval.ID, operation[:], int(c.Approval.Level), encode.Digest(c.Approval.Preview)).QueryRow(func(row pgx.Row) error {
		var one int64
		return row.Scan(&one)
	})
}

// plainQuestion is what became of a question that was asked in one round trip.
type plainQuestion struct {
	now  time.Time
	open held      // the row that answered for the operation, if one did
	made time.Time // when a new row was made, zero: none was
}

// proposePlain queues the search for the row that answers for an operation, and
// what makes one where none does and the caps allow it, with its entry.
func (u *unit) proposePlain(q *plainQuestion, id string, p ambit.Proposal, caps approval.Caps, e *audit.Entry) error {
	// A row of a clock that begins: its times are how long it takes until then.
	values, err := newValues(lifecycle.New(id, p, time.UnixMicro(0)))
	if err != nil {
		return err
	}
	operation := p.Binding.Operation()
	u.row(&q.open, "operation = $1 AND open", "", operation[:])
	u.readClock(&q.now)
	// The tenant's row is locked before its proposals are counted, as in Propose.
	u.queue(`
		INSERT INTO {}tenant (tenant) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM {}proposal WHERE operation = $2 AND open)
		ON CONFLICT (tenant) DO UPDATE SET tenant = excluded.tenant`, p.Binding.Tenant, operation[:])
	u.queue(`
		WITH pending AS MATERIALIZED (
			SELECT {now} AS now, count(*) FILTER (WHERE requester = $4) AS requester, count(*) AS tenant
			FROM {}proposal WHERE tenant = $3 AND kind = 0 AND state = 0 AND decide_by > (SELECT {now})
		)
		INSERT INTO {}proposal (`+newColumns+`)
		SELECT $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now + $13::bigint, now + $14::bigint, now + $15::bigint, $16, $17, 0, 0, 0, 0 FROM pending
		WHERE NOT EXISTS (SELECT 1 FROM {}proposal WHERE operation = $9 AND open)
		  AND ($18::bigint = 0 OR requester < $18) AND ($19::bigint = 0 OR tenant < $19)
		RETURNING created`,
		append(append([]any{u.ahead.Load()}, values...), caps.Requester, caps.Tenant)...).QueryRow(func(row pgx.Row) error {
		var created int64
		err := row.Scan(&created)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		q.made = encode.ParseTime(created)
		return err
	})
	u.recordMade(e, id)
	return nil
}

// answer returns the record that answers for the question, if that was the plain
// case: it was made, or there is one that need not be written.
func (q *plainQuestion) answer(id string, p ambit.Proposal) (record approval.Record, created, plain bool) {
	if !q.made.IsZero() {
		return lifecycle.New(id, p, q.made).Record, true, true
	}
	if q.open.found {
		if stays, changed, _ := q.open.Ask(p, q.now); stays && !changed {
			return q.open.Record, false, true
		}
	}
	return approval.Record{}, false, false
}
