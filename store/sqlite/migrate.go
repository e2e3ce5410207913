package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

//go:embed migrations/*.sql
var migrations embed.FS

// provider returns what brings the tables to the newest version, one file after
// the other and never back. Which files have been applied is in a table of its
// own.
func (s *Store) provider() (*goose.Provider, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []*goose.Migration
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		version, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the name of %s is no number: %w", name, err)
		}
		step := s.text(string(text))
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, step)
			return err
		}}, nil))
	}
	versions, err := database.NewStore(database.DialectSQLite3, s.options.Prefix+"version")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider("", s.db, nil, goose.WithStore(versions), goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true))
}

// migrate brings the tables up to date. Of several processes that start at once,
// one does so, and the others may meet its changes half-way: they try again.
func (s *Store) migrate(ctx context.Context) error {
	provider, err := s.provider()
	if err != nil {
		return err
	}
	const tries = 20
	for try := 1; ; try++ {
		err := update(ctx, provider)
		if err == nil || try == tries || ctx.Err() != nil {
			return err
		}
	}
}

// update applies what has not been applied. Where that is nothing, which is the
// rule, it waits for nobody.
func update(ctx context.Context, provider *goose.Provider) error {
	current, newest, err := provider.GetVersions(ctx)
	switch {
	case err == nil && current == newest:
		return nil
	case err == nil && current > newest:
		return fmt.Errorf("they have version %d, this program knows versions up to %d: use a newer program", current, newest)
	}
	_, err = provider.Up(ctx) // there may be no table of versions yet
	return err
}
