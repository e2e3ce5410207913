//go:build unix

package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// owner returns whom the server runs as where this process is root, which the
// server's programs refuse: the user that Debian makes for it.
func owner() (uid, gid int, err error) {
	if os.Getuid() != 0 {
		return os.Getuid(), os.Getgid(), nil
	}
	postgres, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, err
	}
	if uid, err = strconv.Atoi(postgres.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(postgres.Gid)
	return uid, gid, err
}

// give makes a folder that of whom the server runs as.
func give(folder string) error {
	uid, gid, err := owner()
	if err != nil {
		return err
	}
	return os.Chown(folder, uid, gid)
}

// unprivileged makes a command run as that user.
func unprivileged(command *exec.Cmd) error {
	uid, gid, err := owner()
	if err != nil || os.Getuid() != 0 {
		return err
	}
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}
