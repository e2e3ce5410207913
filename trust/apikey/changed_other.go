//go:build !(linux || openbsd || dragonfly || solaris || darwin || freebsd || netbsd)

package apikey

import (
	"io/fs"
	"time"
)

// lastChange returns when a file was written last, or is said to have been: there
// is no time here that nobody can set.
func lastChange(info fs.FileInfo) time.Time { return info.ModTime() }
