package apikey

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

const (
	maxFile = 8 << 20

	// lockLimit is how long to wait for others who change the file, and
	// lockPause how long between two attempts.
	lockLimit = 30 * time.Second
	lockPause = 10 * time.Millisecond
)

// readFile reads a file of keys, unless its rights have one of the forbidden
// bits, by which others than its owner may do what use says, or it belongs to a
// stranger, who could change rights and keys at any time. Both are looked at on
// the open file, so that what was checked is what is read. Windows has no such
// bits: there, the folder's own list rules.
func readFile(path string, forbidden os.FileMode, use string) ([]byte, fs.FileInfo, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, nil, fileError(path, err)
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("apikey: %s: is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&forbidden != 0:
		return nil, nil, fmt.Errorf("apikey: %s: has the rights %#o, and nobody but its owner may %s: chmod 600 it", path, info.Mode().Perm(), use)
	case !trustedOwner(info, os.Geteuid()):
		return nil, nil, fmt.Errorf("apikey: %s: belongs neither to the user that the program runs as nor to root: chown it", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("is larger than 8 MiB")
	}
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	return data, info, nil
}

// targetOf returns the file that a path stands for: the one behind it where it is
// a symbolic link, so that all who have the file by whatever link see one change.
func targetOf(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		return target, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fileError(path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("apikey: %s: is a link to a file that is not there: make the file, or remove the link", path)
	}
	return path, nil
}

// replaceFile replaces a file of keys as a whole, so that nobody ever sees half
// of it. What is to be written, renew says once nobody else may change the file,
// and nil for nothing; it says, too, which file its text was made from, whose
// rights and owner the new one gets. The path that it gets is that of the file
// itself. A file that was not there is its owner's alone.
func replaceFile(ctx context.Context, path string, renew func(path string) (text []byte, from fs.FileInfo, err error)) (err error) {
	if path, err = targetOf(path); err != nil {
		return err
	}
	next, err := lockFile(ctx, path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(next.Name()))
		}
	}()
	text, from, err := renew(path)
	if err == nil && text != nil {
		_, err = next.Write(append(text, '\n'))
		err = errors.Join(err, next.Sync())
		if err == nil && from != nil {
			err = errors.Join(next.Chmod(from.Mode().Perm()), keepOwner(next, from))
		}
	}
	if closing := next.Close(); err == nil {
		err = closing
	}
	switch {
	case err != nil:
		return err
	case text == nil:
		return os.Remove(next.Name())
	}
	return os.Rename(next.Name(), path)
}

// lockFile makes the file that takes the place of a file of keys. Whoever has it
// is the only one who changes the keys.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	for {
		next, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil:
			return next, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("apikey: %w", err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("apikey: %s.new is there: somebody else is changing the keys right now, or was cut off; if that is so, remove it", path)
		}
	}
}

// fileError says which file an error is about, once.
func fileError(path string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("apikey: %s: %w", path, err)
}
