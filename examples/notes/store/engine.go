package store

import (
	"context"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/approval"
	"github.com/ambit-dev/ambit/trust/audit"
	"github.com/ambit-dev/ambit/trust/oauth"
	"github.com/ambit-dev/ambit/trust/webbotauth"
)

// Kept is what the database of the notes keeps for Ambit.
type Kept struct {
	// Ledger keeps what was done once, what persons have allowed, and the record
	// of both.
	Ledger interface {
		approval.Store
		audit.Store
	}
	// Keys are the API keys.
	Keys apikey.Store
	// Nonces and Replays are what agents and tokens have used up.
	Nonces  webbotauth.Nonces
	Replays oauth.Replays
	// Halts is a form of the halt switch.
	Halts ambit.HaltSwitch
}

// engine is a database, as far as one differs from another. Statements number
// their arguments, as in $1.
type engine interface {
	begin(ctx context.Context, writes bool) (transaction, error)
	// version is that of the tables, 0 where there are none.
	version(ctx context.Context, tx transaction) (int, error)
	setVersion(ctx context.Context, tx transaction, version int) error
	kept() Kept
	words() dialect
	close() error
}

// transaction is a transaction under way.
type transaction interface {
	exec(ctx context.Context, statement string, args ...any) (changed int64, err error)
	// row reads one row; sql.ErrNoRows means that there is none.
	row(ctx context.Context, into []any, statement string, args ...any) error
	// rows calls each for every row.
	rows(ctx context.Context, each func(scan func(...any) error) error, statement string, args ...any) error
	commit(ctx context.Context) error
	// rollback does nothing after a commit.
	rollback()
	// join lets what Ambit keeps of a call be written in this transaction.
	join(ctx context.Context) context.Context
}

// dialect is what two databases say in different words.
type dialect struct {
	tables string // makes the tables of version 1
	tags   string // the tags of a note, in order, joined by commas
	search string // finds notes by words; see [Store.Search]
	query  func(words string) string
}

type inTransaction struct{ store *Store }

// Transaction is the middleware that makes one transaction of each call that
// changes something: what the handler has written, and what is on record about
// the call, are both kept or both undone.
func (s *Store) Transaction() ambit.Middleware {
	return ambit.Middleware{Name: "transaction", Wrap: func(ctx context.Context, call *ambit.Call, next ambit.Next) (output any, err error) {
		if call.Effect() == ambit.Read || call.Previewing() {
			return next(ctx)
		}
		err = s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
			output, err = next(tx.join(context.WithValue(ctx, inTransaction{s}, tx)))
			return err
		})
		return output, err
	}}
}

// write runs do in a transaction and commits it if do returns nil. In a call that
// is one transaction already, do is a part of that.
func (s *Store) write(ctx context.Context, do func(context.Context, transaction) error) error {
	if tx, ok := ctx.Value(inTransaction{s}).(transaction); ok {
		return do(ctx, tx)
	}
	return s.transact(ctx, true, do)
}

// read runs do on one unchanging state of the database.
func (s *Store) read(ctx context.Context, do func(context.Context, transaction) error) error {
	if tx, ok := ctx.Value(inTransaction{s}).(transaction); ok {
		return do(ctx, tx)
	}
	return s.transact(ctx, false, do)
}

func (s *Store) transact(ctx context.Context, writes bool, do func(context.Context, transaction) error) error {
	tx, err := s.engine.begin(ctx, writes)
	if err != nil {
		return endedOr(ctx, err)
	}
	defer tx.rollback()
	if err := do(ctx, tx); err != nil {
		return endedOr(ctx, err)
	}
	return endedOr(ctx, tx.commit(ctx))
}

// endedOr prefers the end of the context to the error that it has caused in
// the database, so that a canceled call is reported as such.
func endedOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
