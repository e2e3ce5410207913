package store

import (
	"database/sql"
	"errors"

	"github.com/ambit-dev/ambit"
)

// orNoNote says of a note that was to be changed and does not exist; any other
// error stays as it is.
func orNoNote(err error, id int64) error {
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return ambit.Errorf(ambit.CodeNotFound, "There is no note with the number %d.", id).
		WithHint("notes.search finds the numbers of notes.")
}

// conflict refuses a change that was made for another version than the note has.
func conflict(made, current int64) error {
	return ambit.Errorf(ambit.CodeConflict, "The note has version %d now; this change was made for version %d.", current, made).
		WithHint("Read the note again with notes.get, then decide whether the change still fits.").
		WithDetails(map[string]any{"version": current})
}
