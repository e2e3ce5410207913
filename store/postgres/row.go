package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
)

// held is a row that a transaction has looked for.
type held struct {
	lifecycle.Row
	found bool
}

// row queues the search for the row that a condition is true of. Lock is what
// follows the condition: "FOR UPDATE" or nothing.
func (u *unit) row(into *held, condition, lock string, args ...any) {
	u.queue("SELECT "+encode.Columns+" FROM {}proposal WHERE "+condition+" "+lock, args...).QueryRow(func(row pgx.Row) error {
		r, err := encode.Row(row.Scan)
		*into = held{}
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		*into = held{*r, true}
		return nil
	})
}

// newColumns are those of a new row: what newValues returns, and then four times that
// have not come.
const newColumns = encode.NewColumns + ", level, preview, execute_by, claimed, lapses, finished"

func newValues(r lifecycle.Row) ([]any, error) {
	values, err := encode.New(r)
	return append(values, compared(r)...), err
}

// compared returns what a plain claim compares with that is in the JSON as well.
func compared(r lifecycle.Row) []any {
	return []any{int(r.Proposal.Level), encode.Digest(r.Proposal.Preview)}
}

// insert queues a new row.
func (u *unit) insert(r lifecycle.Row) error {
	values, err := newValues(r)
	if err != nil {
		return err
	}
	u.queue("INSERT INTO {}proposal ("+newColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 0, 0, 0, 0)", values...)
	return nil
}

// update queues all of a row that can change.
func (u *unit) update(r lifecycle.Row) error {
	values, err := encode.Changed(r)
	if err != nil {
		return err
	}
	u.queue(`
		UPDATE {}proposal SET state = $2, open = $3, proposal = $4, input = $5, decisions = $6,
			decide_by = $7, execute_by = $8, claimed = $9, lapses = $10, finished = $11, closed = $12, attempt = $13, key = $14, outcome = $15,
			level = $16, preview = $17
		WHERE id = $1`, append(values, compared(r)...)...)
	return nil
}
