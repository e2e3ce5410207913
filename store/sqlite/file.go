package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
)

// OpenDB opens the file at path as [Open] does, for an application that keeps
// tables of its own beside those of [New]: in WAL mode, with a busy timeout, with
// foreign keys held, and with what is committed on disk. It makes the file and its
// folder where they do not exist, for their owner alone; the two files that SQLite
// puts beside it have the rights of the file, and stay when it is closed. Each
// connection is given to prepare first, which registers extensions; nil ones are
// skipped. Every transaction that may write begins IMMEDIATE. The caller closes
// the database.
func OpenDB(path string, prepare ...func(*sqlite3.Conn) error) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := makeFiles(path); err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return driver.Open(sourceName(path), func(c *sqlite3.Conn) error {
		if _, err := c.FileControl("main", sqlite3.FCNTL_PERSIST_WAL, true); err != nil {
			return err
		}
		for _, f := range prepare {
			if f == nil {
				continue
			}
			if err := f(c); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeFiles makes an empty file that nobody else may read, unless there is one,
// and those beside it: the log, and what its processes share memory by. SQLite
// written in C gives them the rights of the file; this driver makes the one for
// everybody to read, and the other so before it takes that back. Therefore they
// are there before the driver looks. SQLite removes a log beside a database that
// has nothing in it yet, and the driver makes it anew with the rights of the file.
func makeFiles(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := makeFile(path); err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(path) // SQLite puts them beside the file itself
	if err != nil {
		return err
	}
	main, err := os.Stat(path)
	if err != nil {
		return err
	}
	for _, name := range [...]string{path + "-wal", path + "-shm"} {
		if err := makeFile(name); err != nil {
			return err
		}
		switch beside, err := os.Lstat(name); {
		case errors.Is(err, fs.ErrNotExist): // removed by another connection, in between
		case err != nil:
			return err
		case !beside.Mode().IsRegular():
			return fmt.Errorf("%s is no file of SQLite's: remove it", name)
		case beside.Mode().Perm() == main.Mode().Perm():
		default:
			if err := os.Chmod(name, main.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// makeFile makes an empty file unless there is one. One that is there is not
// opened: to close it could take away locks that this process has on it.
func makeFile(name string) error {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) { // by another process, in between
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// sourceName is the data source name for a file. What is committed is on disk:
// a claim that a crash of the machine could undo would let a call run twice.
func sourceName(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	query := url.Values{
		"modeof": {path}, // whatever the driver has to make has the file's rights
		"_pragma": {
			"busy_timeout(10000)", // first, so that the next one waits too
			"journal_mode(wal)",
			"journal_size_limit(67108864)", // so that the log is emptied when the file is closed
			"synchronous(full)",
			"foreign_keys(on)",
		},
	}.Encode()
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: strings.ReplaceAll(query, "+", "%20")}).String() // SQLite takes a plus as it is
}
