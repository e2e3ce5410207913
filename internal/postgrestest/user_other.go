//go:build !unix

package postgrestest

import "os/exec"

func give(string) error { return nil }

func unprivileged(*exec.Cmd) error { return nil }
