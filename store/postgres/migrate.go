package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// provider returns what brings the tables to the newest version, one file after
// the other and never back. Which files have been applied is in a table of its
// own.
func (s *Store) provider(db *sql.DB) (*goose.Provider, error) {
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
	table := s.options.Prefix + "version"
	if s.options.Schema != "" {
		table = s.options.Schema + "." + table
	}
	versions, err := database.NewStore(database.DialectPostgres, table)
	if err != nil {
		return nil, err
	}
	// Of several instances that start at once, one works and the others wait.
	id := fnv.New64a()
	_, _ = id.Write([]byte("ambit " + table)) // it never fails
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(int64(id.Sum64())), lock.WithLockTimeout(1, 60))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider("", db, nil, goose.WithStore(versions), goose.WithGoMigrations(steps...),
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker))
}

// migrate brings the tables up to date.
func (s *Store) migrate(ctx context.Context) error {
	if s.options.Schema != "" {
		if err := s.makeSchema(ctx); err != nil {
			return err
		}
	}
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close()
	provider, err := s.provider(db)
	if err != nil {
		return err
	}
	return update(ctx, provider)
}

// makeSchema makes the schema unless it is there: to find that out by making it would
// take the right to.
func (s *Store) makeSchema(ctx context.Context) error {
	var there bool
	err := s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", s.options.Schema).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = s.pool.Exec(ctx, s.text("CREATE SCHEMA IF NOT EXISTS "+s.options.Schema))
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" { // unique_violation: another instance has made it meanwhile
		return nil
	}
	return err
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
	case lacksRights(err): // to go on would say something else
		return err
	}
	_, err = provider.Up(ctx) // there may be no table of versions yet
	return err
}
