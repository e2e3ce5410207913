//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// sample is what one side did in one round.
type sample struct {
	cpu  time.Duration // of the server, for one request
	rate float64       // requests in a second
}

// measure starts a side's server, warms it up with a tenth of the requests,
// sends it the rest of the plan and stops it.
func measure(ctx context.Context, p plan, name string) (s sample, err error) {
	c, err := findSide(name)
	if err != nil {
		return s, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	server, err := startChild(ctx, name)
	if err != nil {
		return s, err
	}
	defer func() { err = server.stop(err) }()

	transport := &http.Transport{MaxConnsPerHost: p.connections, MaxIdleConnsPerHost: p.connections}
	defer transport.CloseIdleConnections()
	l := load{client: &http.Client{Transport: transport}, url: "http://" + server.address + c.exchange.Path, contender: c}
	if err := l.run(ctx, p.connections, max(p.connections, p.requests/10)); err != nil {
		return s, err
	}
	before, err := server.usage()
	if err != nil {
		return s, err
	}
	start := time.Now()
	if err := l.run(ctx, p.connections, p.requests); err != nil {
		return s, err
	}
	took := time.Since(start)
	after, err := server.usage()
	if err != nil {
		return s, err
	}
	return sample{
		cpu:  (after - before) / time.Duration(p.requests),
		rate: float64(p.requests) / took.Seconds(),
	}, nil
}

// load sends one exchange over and over.
type load struct {
	contender

	client *http.Client
	url    string
}

// run sends count requests over the given number of connections. Each
// connection's first answer is verified, and of every other one the status.
func (l *load) run(ctx context.Context, connections, count int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		left    atomic.Int64
		workers sync.WaitGroup
	)
	left.Store(int64(count))
	for range connections {
		workers.Go(func() {
			for first := true; left.Add(-1) >= 0; first = false {
				if err := l.send(ctx, first); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func (l *load) send(ctx context.Context, verify bool) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(l.exchange.Body))
	if err != nil {
		return err
	}
	l.exchange.SetHeader(request.Header)
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if verify {
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		return l.exchange.Judge(response.StatusCode, body)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
