//go:build unix

package apikey_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ambit-dev/ambit/trust/apikey"
)

// ownedBy is what the system says of a file of some user's.
type ownedBy struct {
	fs.FileInfo
	user uint32
}

func (o ownedBy) Sys() any { return &syscall.Stat_t{Uid: o.user} }

// A stranger who owns a file can change its rights and its keys whenever it
// likes, so that rights alone say nothing.
func TestT09_FilesOfStrangersAreRefused(t *testing.T) {
	t.Parallel()
	const me, stranger = 1000, 1001
	for _, test := range []struct {
		name  string
		owner uint32
		user  int
		want  bool
	}{
		{"one's own", me, me, true},
		{"root's", 0, me, true},
		{"a stranger's", stranger, me, false},
		{"root's own", 0, 0, true},
		{"a stranger's, for root", stranger, 0, false},
	} {
		if got := apikey.TrustedOwner(ownedBy{user: test.owner}, test.user); got != test.want {
			t.Errorf("%s: want trusted %v, got %v", test.name, test.want, got)
		}
	}
}

// Nobody writes to the FIFO, so that a reader who opens it as usual would wait
// for ever.
func TestFIFOIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := apikey.OpenFile(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("want an error that says so, got %v", err)
	}
}
