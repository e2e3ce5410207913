package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ambit-dev/ambit"
)

// maxFlights is the most calls that are answered at a time on one connection.
const maxFlights = 32

// ServeStdio speaks MCP over two streams, one message on each line: standard
// input and output of a program that an agent has started. The principal is
// whoever the program works for; nothing is authenticated here.
//
// Calls are answered at the same time, up to 32 of them, further ones are
// refused as rate_limited; responses come as they are ready, and no two lines
// mix. A line that is longer than a message may be is answered with an error and
// passed over.
//
// It returns nil at the end of in, once every call under way has been answered.
// When ctx ends it cancels the calls, waits for them, closes in where that can
// be closed and returns the context's error. It returns an error when a stream
// fails, too. Nothing else ends a read under way: of an input that cannot be
// closed, one goroutine waits for the next byte.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, principal *ambit.Principal) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &connection{out: out, fail: cancel, slots: make(chan struct{}, maxFlights)}
	c.session = s.NewSession(principal, c.write)

	lines := make(chan line)
	go read(ctx, bufio.NewReaderSize(in, 64<<10), s.maxMessage, lines)
	err := c.serve(ctx, lines)
	if err != nil {
		cancel(err) // there is nobody left to answer
	}
	c.calls.Wait()
	// A write of the last call may have failed.
	if failure := context.Cause(ctx); err == nil && failure != nil {
		err = failure
	}
	if closer, ok := in.(io.Closer); ok && ctx.Err() != nil {
		_ = closer.Close() // it is of no more use
	}
	return err
}

// connection is one pair of streams.
type connection struct {
	session *Session
	fail    context.CancelCauseFunc
	slots   chan struct{}
	calls   sync.WaitGroup

	mu  sync.Mutex // held while a line is written
	out io.Writer
}

// serve takes lines until they end or ctx does.
func (c *connection) serve(ctx context.Context, lines <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case l, open := <-lines:
			switch {
			case !open:
				return nil
			case l.err != nil:
				return fmt.Errorf("mcp: reading: %w", l.err)
			case l.tooLong:
				c.write(appendError(nil, nil, invalidRequest("The message is longer than the server takes.")))
			case len(l.text) > 0:
				c.take(ctx, l.text)
			}
		}
	}
}

// take answers one line: calls on a goroutine of their own, so that a
// cancellation can reach them, everything else in order.
func (c *connection) take(ctx context.Context, text []byte) {
	t := c.session.receive(ctx, text)
	if !t.calls() {
		c.write(t.answer())
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		t.busy = true
		c.write(t.answer())
		return
	}
	c.calls.Go(func() {
		defer func() { <-c.slots }()
		c.write(t.answer())
	})
}

// write writes one line.
func (c *connection) write(message []byte) {
	if message == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.out.Write(append(message, '\n')); err != nil {
		c.fail(fmt.Errorf("mcp: writing: %w", err))
	}
}

// line is one line of the input, or why there are no more.
type line struct {
	text    []byte
	tooLong bool
	err     error
}

// read sends the lines of in until it ends, fails, or nobody listens.
func read(ctx context.Context, in *bufio.Reader, limit int, lines chan<- line) {
	defer close(lines)
	for {
		l := readLine(in, limit)
		last := errors.Is(l.err, io.EOF)
		if last {
			l.err = nil
		}
		select {
		case lines <- l:
		case <-ctx.Done():
			return
		}
		if last || l.err != nil {
			return
		}
	}
}

// readLine reads one line, without its end. What is beyond the limit is read
// and dropped.
func readLine(in *bufio.Reader, limit int) (l line) {
	for {
		part, err := in.ReadSlice('\n')
		if l.tooLong = l.tooLong || len(l.text)+len(part) > limit; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
			break
		}
	}
	for len(l.text) > 0 && (l.text[len(l.text)-1] == '\n' || l.text[len(l.text)-1] == '\r') {
		l.text = l.text[:len(l.text)-1]
	}
	return l
}
