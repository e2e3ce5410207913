//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// child is a server process as its parent holds it.
type child struct {
	address string

	command *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
}

// startChild starts this program again as the server of one side and waits for
// its address.
func startChild(ctx context.Context, name string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "-serve", name)
	command.Stderr = os.Stderr
	ask, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &child{command: command, ask: ask, answers: bufio.NewReader(out)}
	if c.address, err = c.line(); err != nil {
		return nil, fmt.Errorf("the server did not start: %w", c.stop(err))
	}
	return c, nil
}

// usage returns the CPU time that the server has used so far.
func (c *child) usage() (time.Duration, error) {
	if _, err := io.WriteString(c.ask, "\n"); err != nil {
		return 0, err
	}
	line, err := c.line()
	if err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(line, 10, 64)
	return time.Duration(nanoseconds), err
}

// stop ends the server and returns the first error of before and the ending.
func (c *child) stop(before error) error {
	closed := c.ask.Close()
	waited := c.command.Wait()
	for _, err := range []error{before, closed, waited} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *child) line() (string, error) {
	line, err := c.answers.ReadString('\n')
	return strings.TrimSpace(line), err
}
