//go:build linux || openbsd || dragonfly || solaris

package apikey

import (
	"io/fs"
	"syscall"
	"time"
)

// lastChange returns when a file was changed last: the time that nobody can set,
// as programs do that copy a file with its times.
func lastChange(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(stat.Ctim.Unix())
	}
	return info.ModTime()
}
