//go:build unix

package apikey

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens a file to read it, and does not wait where it is a FIFO that
// nobody writes to. To a regular file that makes no difference.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// trustedOwner reports whether a file belongs to root or to a user.
func trustedOwner(info fs.FileInfo, user int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == user)
}

// keepOwner gives a file to the user and group that have another one, where they
// differ from those of the process.
func keepOwner(file *os.File, of fs.FileInfo) error {
	was, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	return file.Chown(int(was.Uid), int(was.Gid))
}
