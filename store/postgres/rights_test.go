package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/store/postgres"
)

// newRole makes a role without rights in a database, and returns its name and the
// database's address as that role has it.
func newRole(t *testing.T, owner *pgxpool.Pool, address string) (role, as string) {
	t.Helper()
	role = "ambit_" + strings.ToLower(rand.Text())
	_, err := owner.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'secret'")
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		t.Skip("the server's user may not make roles")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := owner.Exec(context.Background(), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role); err != nil {
			t.Errorf("drop the role: %v", err)
		}
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "secret")
	return role, u.String()
}

// A role that may not make tables is told which rights it takes, in a statement that
// does it.
func TestRights(t *testing.T) {
	t.Parallel()
	address := database(t, true)
	owner := connect(t, address)
	role, as := newRole(t, owner, address)
	if _, err := owner.Exec(t.Context(), "REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE SCHEMA given"); err != nil { // as it is from PostgreSQL 15 on
		t.Fatal(err)
	}
	for _, o := range []postgres.Options{{}, {Schema: "given"}, {Schema: "apart"}} {
		_, err := postgres.Open(t.Context(), as, o)
		if err == nil {
			t.Fatalf("%+v: want an error for want of rights", o)
		}
		_, cure, found := strings.Cut(err.Error(), "run GRANT ")
		if !found || !strings.Contains(cure, role) {
			t.Fatalf("%+v: want a statement that gives the rights to %s, got %v", o, role, err)
		}
		if _, err := owner.Exec(t.Context(), "GRANT "+cure); err != nil { // whoever follows the advice gets in
			t.Fatalf("%+v: GRANT %s: %v", o, cure, err)
		}
		if r, err := open(t, as, o).Claim(t.Context(), keyed()); err != nil || r.State != ambit.RecordFree {
			t.Errorf("%+v: claim: got state %d, error %v", o, r.State, err)
		}
	}
}

// Once the tables are up to date, the rights to read and write them are enough, and
// another role than their owner is told that it takes that one where they are not.
func TestRights_OfAnotherRole(t *testing.T) {
	t.Parallel()
	address := database(t, false)
	owner := connect(t, address)
	role, as := newRole(t, owner, address)
	if _, err := postgres.Open(t.Context(), as, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "the tables belong to the role ") {
		t.Errorf("want what it takes, got %v", err)
	}
	if _, err := owner.Exec(t.Context(), "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role); err != nil {
		t.Fatal(err)
	}
	s := open(t, as, postgres.Options{})
	if r, err := s.Claim(t.Context(), keyed()); err != nil || r.State != ambit.RecordFree {
		t.Errorf("claim: got state %d, error %v", r.State, err)
	}
	if err := s.Halts().Halt(t.Context(), ambit.Halt{Kind: ambit.HaltAll}); err != nil {
		t.Errorf("halt: %v", err)
	}
}
