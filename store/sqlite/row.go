package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ambit-dev/ambit/store/internal/encode"
	"github.com/ambit-dev/ambit/store/internal/lifecycle"
)

// row returns the row that a condition is true of.
func (u *unit) row(ctx context.Context, condition string, args ...any) (r lifecycle.Row, found bool, err error) {
	read, err := encode.Row(u.queryRow(ctx, "SELECT "+encode.Columns+" FROM {}proposal WHERE "+condition, args...).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return lifecycle.Row{}, false, nil
	case err != nil:
		return lifecycle.Row{}, false, err
	}
	return *read, true, nil
}

// insert adds a row.
func (u *unit) insert(ctx context.Context, r lifecycle.Row) error {
	values, err := encode.New(r)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, "INSERT INTO {}proposal ("+encode.NewColumns+", execute_by, claimed, lapses, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0)", values...)
	return err
}

// update writes all of a row that can change.
func (u *unit) update(ctx context.Context, r lifecycle.Row) error {
	values, err := encode.Changed(r)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, `
		UPDATE {}proposal SET state = ?2, open = ?3, proposal = ?4, input = ?5, decisions = ?6,
			decide_by = ?7, execute_by = ?8, claimed = ?9, lapses = ?10, finished = ?11, closed = ?12, attempt = ?13, key = ?14, outcome = ?15
		WHERE id = ?1`, values...)
	return err
}
