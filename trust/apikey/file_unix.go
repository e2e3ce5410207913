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
