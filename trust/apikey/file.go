package apikey

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

const maxFile = 8 << 20

// readFile reads a file of keys, unless its rights have one of the forbidden
// bits, by which others than its owner may do what use says, or it belongs to a
// stranger, who could change rights and keys at any time. Both are looked at on
// the open file, so that what was checked is what is read. Windows has no such
// bits: there, the folder's own list rules.
func readFile(path string, forbidden os.FileMode, use string) ([]byte, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fileError(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("apikey: %s: is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&forbidden != 0:
		return nil, fmt.Errorf("apikey: %s: has the rights %#o, and nobody but its owner may %s: chmod 600 it", path, info.Mode().Perm(), use)
	case !trustedOwner(info, os.Geteuid()):
		return nil, fmt.Errorf("apikey: %s: belongs neither to the user that the program runs as nor to root: chown it", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("is larger than 8 MiB")
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	return data, nil
}

// fileError says which file an error is about, once.
func fileError(path string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("apikey: %s: %w", path, err)
}
