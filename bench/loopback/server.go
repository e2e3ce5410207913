//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// serveSide is the server process. It writes its address on the first line of
// out, then for every line of in the CPU time that the process has used, in
// nanoseconds, and ends when in does, which is at the latest when its parent
// ends.
func serveSide(name string, in io.Reader, out io.Writer) error {
	c, err := findSide(name)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: c.handler(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	answered := answerUsage(listener.Addr().String(), in, out)
	closed := server.Close()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return errors.Join(answered, closed)
}

func answerUsage(address string, in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintln(out, address); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		used, err := processTime()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, used.Nanoseconds()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// processTime returns the CPU time, user and system, that this process has used.
func processTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
