package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// soakLarge is how large an answer is that no buffers between client and server
// hold.
const soakLarge = 8 << 20

// connect opens a connection for one request, which waits no longer than
// clients do.
func (c *soakClient) connect() (*net.TCPConn, error) {
	connection, err := net.Dial("tcp", c.address)
	if err != nil {
		return nil, err
	}
	return connection.(*net.TCPConn), connection.SetDeadline(time.Now().Add(soakPatience))
}

// text writes a request as it goes over a connection that is closed after it.
func (c *soakClient) text(r soakRequest) string { return c.head(r, len(r.body)) + r.body }

// head writes the part of a request that announces a body of some length.
func (c *soakClient) head(r soakRequest, length int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n", r.method, r.path, length)
	for name, value := range c.begin(r).header {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	return b.String() + "\r\n"
}

// halfOf cuts a request within its body.
func (c *soakClient) halfOf(text string, r soakRequest) string {
	return text[:len(text)-1-c.random.IntN(len(r.body))]
}

// halfAndGone sends a part of a request and closes the connection.
func (c *soakClient) halfAndGone() (err error) {
	connection, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	input, _ := c.input()
	request := c.addressee().request("echo", input)
	c.tally.gone++
	_, err = io.WriteString(connection, c.halfOf(c.text(request), request))
	return err
}

// halfAndWaiting sends a part of a request, ends its side of the connection, and
// is told that the body is not complete.
func (c *soakClient) halfAndWaiting() (err error) {
	connection, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	input, _ := c.input()
	request := c.addressee().request("echo", input)
	c.tally.sent++
	if _, err := io.WriteString(connection, c.halfOf(c.text(request), request)); err != nil {
		return err
	}
	if err := connection.CloseWrite(); err != nil {
		return err
	}
	answer, err := c.receive(connection)
	if err == nil && answer.status != http.StatusBadRequest {
		return fmt.Errorf("want status 400, got %d: %.300s", answer.status, answer.body)
	}
	return err
}

// tooLarge announces more than is taken, and is told so before any of it is sent.
func (c *soakClient) tooLarge() (err error) {
	connection, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	c.tally.sent++
	if _, err := io.WriteString(connection, c.head(c.addressee().request("echo", "{}"), 100<<20)); err != nil {
		return err
	}
	answer, err := c.receive(connection)
	if err == nil && answer.status != http.StatusRequestEntityTooLarge {
		return fmt.Errorf("want status 413, got %d: %.300s", answer.status, answer.body)
	}
	return err
}

// slowWriter sends a request in pieces.
func (c *soakClient) slowWriter() (err error) {
	connection, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	to := c.addressee()
	input, output := c.input()
	text := c.text(to.request("echo", input))
	c.tally.sent++
	began := time.Now()
	for len(text) > 0 {
		n := min(len(text), 1+c.random.IntN(2_000))
		if _, err := io.WriteString(connection, text[:n]); err != nil {
			return c.cutOff(began, err)
		}
		text = text[n:]
		c.pause(context.Background(), 20*time.Millisecond)
	}
	answer, err := c.receive(connection)
	if err != nil {
		return c.cutOff(began, err)
	}
	if late(began) && strings.Contains(answer.body, "arrived too slowly") {
		return nil
	}
	return to.judge(answer, "", output)
}

// late reports whether a connection that is used slowly may have stood still for
// longer than the server waits: a machine with much else to do makes it.
func late(began time.Time) bool { return time.Since(began) >= soakLimits().Stall }

// cutOff takes the failure of such a connection for the server's having given up on
// it.
func (c *soakClient) cutOff(began time.Time, err error) error {
	if !late(began) {
		return err
	}
	c.tally.cut++
	return nil
}

// receive reads the whole answer of a connection.
func (c *soakClient) receive(from io.Reader) (soakAnswer, error) {
	response, err := http.ReadResponse(bufio.NewReader(from), nil)
	if err != nil {
		return soakAnswer{}, err
	}
	answer, err := readAnswer(response)
	if err = errors.Join(err, response.Body.Close()); err == nil {
		c.tally.answered++
	}
	return answer, err
}

// lingering reads with pauses.
type lingering struct {
	io.Reader
	client *soakClient
}

// Read reads a part of what is there.
func (l lingering) Read(p []byte) (int, error) {
	l.client.pause(context.Background(), 2*time.Millisecond)
	return l.Reader.Read(p[:min(len(p), 64<<10)])
}

// large asks for much. There is room for no more than a part of it to wait for
// being read.
func (c *soakClient) large(size int) (connection *net.TCPConn, err error) {
	if connection, err = c.connect(); err != nil {
		return nil, err
	}
	if err := connection.SetReadBuffer(256 << 10); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	c.tally.sent++
	if _, err := io.WriteString(connection, c.text(apiCall("send", fmt.Sprintf(`{"size":%d}`, size)))); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return connection, nil
}

// slowReader takes its time over a large answer, and gets all of it, unless it was
// too slow.
func (c *soakClient) slowReader() (err error) {
	size := soakLarge/2 + c.random.IntN(soakLarge/4)
	began := time.Now()
	connection, err := c.large(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	answer, err := c.receive(lingering{connection, c})
	if err != nil {
		return c.cutOff(began, err)
	}
	return addressees()[0].judge(answer, "", `{"data":"`+strings.Repeat("d", size)+`"}`)
}

// noReader asks for much and reads nothing, until the server has given up on it.
func (c *soakClient) noReader() (err error) {
	done, forget := c.subject.watch(strconv.Itoa(c.number) + "-" + strconv.Itoa(c.serial+1))
	defer forget()
	connection, err := c.large(soakLarge)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	select {
	case <-done:
	case <-time.After(soakPatience):
		return errors.New("the server waits on for a client that does not read")
	}
	read, err := io.Copy(io.Discard, connection) // a connection that is reset is one that is cut off as well
	if read > soakLarge || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("want the answer cut short, got %d bytes, %v", read, err)
	}
	c.tally.cut++
	return nil
}

// leaveStream goes away in the middle of a stream.
func (c *soakClient) leaveStream() (err error) {
	connection, err := c.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	request, _ := c.reporting()
	c.tally.gone++
	if _, err := io.WriteString(connection, c.text(request)); err != nil {
		return err
	}
	lines := bufio.NewReader(connection)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("want a report, got the end: %w", err)
		}
		if strings.HasPrefix(line, "data: ") {
			return nil
		}
	}
}
