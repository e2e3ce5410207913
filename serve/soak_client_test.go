package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// soakStep is one thing that a client does.
type soakStep struct {
	name   string
	weight int
	do     func(*soakClient) error
}

func soakSteps() []soakStep {
	return []soakStep{
		{"call", 200, (*soakClient).call},
		{"cancel", 75, (*soakClient).cancel},
		{"garbage", 50, (*soakClient).garbage},
		{"keyed", 40, (*soakClient).keyed},
		{"list", 20, (*soakClient).list},
		{"batch", 20, (*soakClient).batch},
		{"stream", 40, (*soakClient).stream},
		{"leave stream", 20, (*soakClient).leaveStream},
		{"half and gone", 20, (*soakClient).halfAndGone},
		{"half and waiting", 20, (*soakClient).halfAndWaiting},
		{"too large", 10, (*soakClient).tooLarge},
		{"slow writer", 20, (*soakClient).slowWriter},
		{"slow reader", 5, (*soakClient).slowReader},
		{"no reader", 1, (*soakClient).noReader}, // seconds, unlike the others
	}
}

// soakClient is one client, with connections of its own.
type soakClient struct {
	subject *soakSubject
	address string
	number  int
	random  *rand.Rand
	http    *http.Client
	tally   *soakTally
	serial  int // of the last request
}

func newSoakClient(subject *soakSubject, address string, number int, random *rand.Rand) *soakClient {
	return &soakClient{
		subject: subject, address: address, number: number, random: random,
		http: &http.Client{Transport: &http.Transport{}}, tally: newSoakTally(),
	}
}

// work uses up the client's keys, does one step that depends on its number, so that
// all are done however little time there is, then one after the other until ctx ends,
// and closes the connections.
func (c *soakClient) work(ctx context.Context) {
	defer c.http.CloseIdleConnections()
	steps, weights := soakSteps(), 0
	for _, step := range steps {
		weights += step.weight
	}
	if err := c.useKeys(); err != nil {
		c.tally.fault(fmt.Sprintf("client %d, keys: %v", c.number, err))
	}
	for step := steps[c.number%len(steps)]; ; step = c.draw(steps, weights) {
		c.tally.steps[step.name]++
		if err := step.do(c); err != nil {
			c.tally.fault(fmt.Sprintf("client %d, %s: %v", c.number, step.name, err))
		}
		if c.pause(ctx, 20*time.Millisecond); ctx.Err() != nil {
			return
		}
	}
}

// draw picks one of some steps by their weights, whose sum is given.
func (c *soakClient) draw(steps []soakStep, weights int) soakStep {
	drawn := c.random.IntN(weights)
	for _, step := range steps {
		if drawn -= step.weight; drawn < 0 {
			return step
		}
	}
	return steps[0]
}

// pause lets some time pass, at most so much.
func (c *soakClient) pause(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(time.Duration(c.random.Int64N(int64(most))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// soakRequest is a request before it is sent.
type soakRequest struct {
	method, path string
	header       map[string]string
	body         string
}

// soakAnswer is an answer that came whole.
type soakAnswer struct {
	status int
	header http.Header
	body   string
}

// begin completes a request with the client's credential and an id.
func (c *soakClient) begin(r soakRequest) soakRequest {
	c.serial++
	header := map[string]string{
		"Authorization": "Bearer " + c.subject.secrets[c.number],
		"X-Request-Id":  fmt.Sprintf("%d-%d", c.number, c.serial),
	}
	if r.body != "" {
		header["Content-Type"] = "application/json"
	}
	for name, value := range r.header {
		header[name] = value
	}
	r.header = header
	return r
}

// send sends a request over one of the client's connections and reads the whole
// answer.
func (c *soakClient) send(r soakRequest) (answer soakAnswer, err error) {
	ctx, stop := context.WithTimeout(context.Background(), soakPatience)
	defer stop()
	c.tally.sent++
	if answer, err = c.exchange(ctx, c.begin(r)); err == nil {
		c.tally.answered++
	}
	return answer, err
}

// sendAndLeave sends a request and goes away when ctx ends. It reports whether
// the answer came before that.
func (c *soakClient) sendAndLeave(ctx context.Context, r soakRequest) (answer soakAnswer, came bool, err error) {
	answer, err = c.exchange(ctx, c.begin(r))
	if err != nil && ctx.Err() != nil {
		c.tally.gone++
		return answer, false, nil
	}
	c.tally.sent++
	if err == nil {
		c.tally.answered++
	}
	return answer, err == nil, err
}

func (c *soakClient) exchange(ctx context.Context, r soakRequest) (answer soakAnswer, err error) {
	request, err := http.NewRequestWithContext(ctx, r.method, "http://"+c.address+r.path, strings.NewReader(r.body))
	if err != nil {
		return answer, err
	}
	for name, value := range r.header {
		request.Header.Set(name, value)
	}
	request.Host = r.header["Host"] // empty: the address
	response, err := c.http.Do(request)
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	return readAnswer(response)
}

func readAnswer(response *http.Response) (soakAnswer, error) {
	body, err := io.ReadAll(response.Body)
	return soakAnswer{response.StatusCode, response.Header, string(body)}, err
}
