// Package postgrestest runs a PostgreSQL server that is thrown away afterwards, for
// tests.
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Variable is the environment variable that names a running server to use
// instead. It is a URL whose user may create databases.
const Variable = "AMBIT_TEST_POSTGRES_URL"

// ErrAbsent means that there is no server to be found.
var ErrAbsent = errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql), and " + Variable + " names no server")

// Cluster is a server. It is safe for concurrent use.
type Cluster struct {
	programs, folder string // empty: the server is somebody else's
	address          *url.URL
	port             *port // nil with no folder, or before there is one

	mu sync.Mutex // one database is made at a time
}

// Start starts a server, or takes the one that [Variable] names.
func Start(ctx context.Context) (*Cluster, error) {
	if text := os.Getenv(Variable); text != "" {
		address, err := url.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s is no URL", Variable) // the error would show the password
		}
		return &Cluster{address: address}, nil
	}
	programs := find()
	if programs == "" {
		return nil, ErrAbsent
	}
	folder, err := os.MkdirTemp("", "ambit-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{programs: programs, folder: folder}
	if err := c.create(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// find returns the folder of the newest server's programs.
func find() string {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(folders, func(a, b string) int { return version(b) - version(a) })
	if len(folders) > 0 {
		return folders[0]
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(program)
	}
	return ""
}

func version(folder string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	return n
}

func (c *Cluster) create(ctx context.Context) error {
	if err := give(c.folder); err != nil {
		return err
	}
	var err error
	if c.port, err = hold(); err != nil {
		return err
	}
	c.address = &url.URL{Scheme: "postgres", User: url.User("postgres"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port.number)), Path: "/postgres", RawQuery: "sslmode=disable"}
	if err := c.run(ctx, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	return c.Resume(ctx)
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// run runs a program of the server as a user who may.
func (c *Cluster) run(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(c.programs, program), args...)
	command.Dir = c.folder
	if err := unprivileged(command); err != nil {
		return err
	}
	log, err := os.CreateTemp("", "ambit-postgres-") // a pipe would stay open with the server
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(log.Close(), os.Remove(log.Name())) }()
	command.Stdout, command.Stderr = log, log
	if err := command.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, said)
	}
	return nil
}

// patience is how many seconds a server may take to start or to stop: only one that
// hangs takes so many.
const patience = "600"

// Resume starts the server again after Halt.
func (c *Cluster) Resume(ctx context.Context) error {
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-w", "-t", patience, "-l", filepath.Join(c.folder, "log"), "-o",
		fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=%s -c fsync=off -c full_page_writes=off -c max_connections=300", c.port.number, c.folder), "start")
}

// Halt stops the server at once, as a crash would. [Cluster.Resume] starts it
// again with the same address.
func (c *Cluster) Halt(ctx context.Context) error {
	return c.run(ctx, "pg_ctl", "-D", c.data(), "-m", "immediate", "-w", "-t", patience, "stop")
}

// Own reports whether the server may be stopped.
func (c *Cluster) Own() bool { return c.folder != "" }

// Database makes a database with a copy of another one, "template1" for nothing,
// and returns its address. Nobody may be connected to the other one.
func (c *Cluster) Database(ctx context.Context, of string) (address string, drop func(context.Context) error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := "ambit_" + strings.ToLower(rand.Text())
	if err := c.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+of); err != nil {
		return "", nil, err
	}
	copied := *c.address
	copied.Path = "/" + name
	return copied.String(), func(ctx context.Context) error { return c.exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

func (c *Cluster) exec(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, c.address.String())
	if err != nil {
		return err
	}
	for range tries {
		if _, err = connection.Exec(ctx, statement); !inUse(err) {
			break
		}
	}
	return errors.Join(err, connection.Close(ctx))
}

// tries is how often the server is told to do something with a database. It waits
// five seconds each time for those to go who have left it, and on a busy machine they
// take longer.
const tries = 60

// inUse reports whether somebody is still connected to a database.
func inUse(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "55006" // object_in_use
}

// Stop stops the server and removes what it has left.
func (c *Cluster) Stop() error {
	if c.folder == "" {
		return nil
	}
	_ = c.Halt(context.Background()) // it may not run
	if c.port != nil {
		_ = c.port.release() // nobody uses it any more
	}
	return os.RemoveAll(c.folder)
}
