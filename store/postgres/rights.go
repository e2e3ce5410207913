package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lacksRights reports whether an error is for want of rights (insufficient_privilege).
func lacksRights(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "42501"
}

// withCure adds to an error for want of rights which they are and who gives them.
// Any other is returned as it is.
func (s *Store) withCure(ctx context.Context, err error) error {
	if !lacksRights(err) {
		return err
	}
	var role, database, schema, owner string
	var there bool
	if s.pool.QueryRow(ctx, `SELECT current_user, current_database(), name, EXISTS (SELECT FROM pg_namespace WHERE nspname = name),
		coalesce((SELECT pg_get_userbyid(c.relowner) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = name AND c.relname = $2), '')
		FROM (SELECT coalesce(nullif($1, ''), current_schema(), 'public')::text AS name) AS wanted`,
		s.options.Schema, s.options.Prefix+"version").Scan(&role, &database, &schema, &there, &owner) != nil {
		return err
	}
	quote := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	cure := fmt.Sprintf("the role %s cannot make tables: have the owner of the database run GRANT USAGE, CREATE ON SCHEMA %s TO %s", role, quote(schema), quote(role))
	switch {
	case owner != "" && owner != role:
		cure = fmt.Sprintf("the tables belong to the role %s: start as that one, which is needed wherever tables are brought up to date, or let %s read and write them", owner, role)
	case !there:
		cure = fmt.Sprintf("the role %s cannot make the schema: have the owner of the database run GRANT CREATE ON DATABASE %s TO %s", role, quote(database), quote(role))
	}
	return fmt.Errorf("%w: %s", err, cure)
}
