package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
	"github.com/ambit-dev/ambit/internal/postgrestest"
	"github.com/ambit-dev/ambit/store/postgres"
	"github.com/ambit-dev/ambit/store/storetest"
)

// server is what all tests share.
var server struct {
	once     sync.Once
	cluster  *postgrestest.Cluster
	template string // the name of a database whose tables are up to date
	err      error
}

func TestMain(m *testing.M) {
	storetest.Child(lives(""))
	goleak.VerifyTestMain(leaktest.Patient(m), goleak.Cleanup(func(code int) {
		if server.cluster != nil {
			if err := server.cluster.Stop(); err != nil && code == 0 {
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// start returns the server that the tests share, and starts it for the first.
func start(t testing.TB) *postgrestest.Cluster {
	t.Helper()
	server.once.Do(func() {
		ctx := context.Background()
		if server.cluster, server.err = postgrestest.Start(ctx); server.err != nil {
			return
		}
		server.template, server.err = template(ctx, server.cluster)
	})
	switch {
	case errors.Is(server.err, postgrestest.ErrAbsent) && os.Getenv("CI") != "true":
		t.Skip(server.err)
	case server.err != nil:
		t.Fatal(server.err)
	}
	return server.cluster
}

// template makes the database that those of the tests are copies of.
func template(ctx context.Context, c *postgrestest.Cluster) (name string, err error) {
	address, _, err := c.Database(ctx, "template1")
	if err != nil {
		return "", err
	}
	s, err := postgres.Open(ctx, address, postgres.Options{})
	if err != nil {
		return "", err
	}
	s.Close()
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(u.Path, "/"), nil
}

// database makes a database with tables that are up to date, or an empty one.
func database(t testing.TB, empty bool) (address string) {
	t.Helper()
	c, of := start(t), server.template
	if empty {
		of = "template1"
	}
	address, drop, err := c.Database(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	return address + "&pool_max_conns=8" // many tests run at once
}

func open(t *testing.T, address string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func stores(s *postgres.Store) storetest.Stores {
	return storetest.Stores{
		Approvals: s, Audit: s, Keys: s.Keys(), Nonces: s.Nonces(), Replays: s.Replays(), Halts: s.Halts(), Rates: s,
		Version: s.Version, Expiring: s.Expiring, Advance: s.Advance,
	}
}

func lives(address string) storetest.Lives {
	return storetest.Lives{
		Address: address,
		Open: func(ctx context.Context, address string) (storetest.ApprovalsAndAudit, func(), error) {
			s, err := postgres.Open(ctx, address+"&application_name="+process(os.Getpid()), postgres.Options{})
			if err != nil {
				return nil, nil, err
			}
			return s, func() { _ = s.Close() }, nil
		},
		Advance: func(s storetest.ApprovalsAndAudit, by time.Duration) { s.(*postgres.Store).Advance(by) },
		// The server does what it has been told, and finds out afterwards that nobody
		// is there.
		Gone: func(ctx context.Context, pid int) error { return gone(ctx, address, process(pid)) },
	}
}

// process is by which name the server knows a process.
func process(pid int) string { return fmt.Sprint("process", pid) }

// gone waits until the server has no connection of a process any more.
func gone(ctx context.Context, address, name string) error {
	config, err := pgxpool.ParseConfig(address) // which knows the settings of pools
	if err != nil {
		return err
	}
	connection, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(ctx) }()
	for there := 1; there > 0; {
		err := connection.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name).Scan(&there)
		if err != nil {
			return err
		}
	}
	return nil
}

func TestT17_Killed(t *testing.T) {
	t.Parallel()
	storetest.RunKilled(t, lives(database(t, true)))
}
