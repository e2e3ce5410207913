package postgrestest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
)

// Shared is a server that the tests of a package share. It is started for the
// first that wants it. The zero value is ready; TestMain stops it.
type Shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

// Database returns the address of a new, empty database, which is gone after the
// test. Where there is no server the test is skipped, except on CI.
func (s *Shared) Database(t testing.TB) (address string) {
	t.Helper()
	s.once.Do(func() { s.cluster, s.err = Start(context.Background()) })
	switch {
	case errors.Is(s.err, ErrAbsent) && os.Getenv("CI") != "true":
		t.Skip(s.err)
	case s.err != nil:
		t.Fatal(s.err)
	}
	address, drop, err := s.cluster.Database(t.Context(), "template1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	return address
}

// Stop stops the server, if it was started.
func (s *Shared) Stop() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Stop()
}
