package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/ambit-dev/ambit"
)

// soakReports is how often a call reports its progress.
const soakReports = 5

// outcome is a capability that always ends in one way, and that way.
type outcome struct {
	capability string
	code       ambit.Code
}

func outcomes() []outcome {
	return []outcome{
		{"echo", ""},
		{"nest", ""},
		{"report", ""},
		{"refuse", ambit.CodeConflict},
		{"fail", ambit.CodeUpstream},
		{"panic", ambit.CodeInternal},
		{"block", ambit.CodeDeadlineExceeded},
		{"flood", ambit.CodeResultTooLarge},
		{"break", ambit.CodeInvalidOutput},
	}
}

// input returns an input that no other request has, and the output that echoes
// it.
func (c *soakClient) input() (input, output string) {
	text := fmt.Sprintf(`{"text":"%d-%d-%d %s"}`, c.number, c.serial, c.random.Uint64(), strings.Repeat("z", c.random.IntN(10_000)))
	return text, text
}

func (c *soakClient) addressee() soakAddressee { return pick(c, addressees()) }

func pick[T any](c *soakClient, among []T) T { return among[c.random.IntN(len(among))] }

// judge reports why an answer is not the one that is wanted.
func (a soakAddressee) judge(answer soakAnswer, code ambit.Code, output string) error {
	result, err := a.result(answer)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", a.name, err)
	case result.code != code:
		return fmt.Errorf("%s: want code %q, got %q: %.300s", a.name, code, result.code, answer.body)
	case code == "" && result.output != output:
		return fmt.Errorf("%s: want the output %.100s, got %.300s", a.name, output, result.output)
	}
	return nil
}

// call makes a call and waits for its end.
func (c *soakClient) call() error {
	to, called := c.addressee(), pick(c, outcomes())
	input, output := c.input()
	answer, err := c.send(to.request(called.capability, input))
	if err != nil {
		return fmt.Errorf("%s: %w", called.capability, err)
	}
	if err := to.judge(answer, called.code, output); err != nil {
		return fmt.Errorf("%s: %w", called.capability, err)
	}
	return nil
}

// cancel makes a call, and closes the connection soon after.
func (c *soakClient) cancel() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(c.random.Int64N(int64(20*time.Millisecond))))
	defer stop()
	to, called := c.addressee(), pick(c, outcomes())
	if c.random.IntN(2) == 0 {
		called = outcome{"block", ambit.CodeDeadlineExceeded}
	}
	input, output := c.input()
	answer, came, err := c.sendAndLeave(ctx, to.request(called.capability, input))
	if err != nil || !came {
		return err
	}
	return to.judge(answer, called.code, output)
}

// mistake is a request that nobody should send, and the status that tells so.
type mistake struct {
	status int
	soakRequest
}

// with returns a request with one header set.
func (r soakRequest) with(name, value string) soakRequest {
	header := maps.Clone(r.header)
	if header == nil {
		header = map[string]string{}
	}
	header[name] = value
	r.header = header
	return r
}

func mistakes(input string) []mistake {
	cut := input[:len(input)-1]
	return []mistake{
		{400, apiCall("echo", cut)},
		{400, apiCall("echo", `{"text":1}`)},
		{400, apiCall("echo", `{"txet":"a"}`)},
		{400, apiCall("echo", strings.Repeat(`[`, 1_000)+strings.Repeat(`]`, 1_000))},
		{400, apiCall("echo?a=b", input)},
		{401, apiCall("echo", input).with("Authorization", "Bearer nobody")},
		{403, apiCall("echo", input).with("Host", "elsewhere.example")},
		{404, apiCall("nothing", input)},
		{405, soakRequest{method: http.MethodGet, path: "/api/soak/echo"}},
		{406, apiCall("echo", input).with("Accept", "text/html")},
		{415, apiCall("echo", input).with("Content-Type", "text/plain")},
		{400, legacyCall("echo", cut)},
		{200, legacyCall("nothing", input)},
		{400, modernCall("nothing", input)},
		{400, modernCall("echo", input).with("Mcp-Name", "soak_panic")},
		{400, modernCall("echo", input).with("Mcp-Protocol-Version", "1999-01-01")},
		{401, modernCall("echo", input).with("Authorization", "Bearer nobody")},
		{404, modernRequest("tools/guess", "", "", "")},
		{405, soakRequest{method: http.MethodGet, path: "/mcp"}},
		{406, modernCall("echo", input).with("Accept", "text/html")},
	}
}

// garbage makes a mistake, and wants to be told so.
func (c *soakClient) garbage() error {
	input, _ := c.input()
	sent := pick(c, mistakes(input))
	answer, err := c.send(sent.soakRequest)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s, %.100s: %w", sent.method, sent.path, sent.body, err)
	case answer.status != sent.status:
		return fmt.Errorf("%s %s, %.100s: want status %d, got %d: %.300s", sent.method, sent.path, sent.body, sent.status, answer.status, answer.body)
	}
	return nil
}

// keyed writes under one of a few keys: now and then something else than has
// been written under it before, or without waiting for the answer.
func (c *soakClient) keyed() error {
	key := soakKey(c.random.IntN(soakKeys))
	switch c.random.IntN(8) {
	case 0:
		return c.writeAndLeave(key)
	case 1:
		to := c.keyedAddressee()
		answer, err := c.send(keyedCall(to, key, `{"text":"something else"}`))
		if err != nil {
			return err
		}
		return to.judge(answer, ambit.CodeConflict, "")
	}
	return c.write(key)
}

// useKeys writes under every key, so that what is kept of them is there from the
// beginning. Each is first tried by a client that leaves.
func (c *soakClient) useKeys() error {
	for i := range soakKeys {
		if err := errors.Join(c.writeAndLeave(soakKey(i)), c.write(soakKey(i))); err != nil {
			return err
		}
	}
	return nil
}

// write writes under a key until it is answered that this is done. A call that
// the client has turned its back on may still be under way, which is a conflict.
func (c *soakClient) write(key string) error {
	for began := time.Now(); ; {
		to, input := c.keyedAddressee(), soakNote(key)
		answer, err := c.send(keyedCall(to, key, input))
		if err != nil {
			return err
		}
		err = to.judge(answer, "", input)
		if err == nil || to.judge(answer, ambit.CodeConflict, "") != nil || time.Since(began) > soakPatience {
			return err
		}
		c.pause(context.Background(), 20*time.Millisecond)
	}
}

func (c *soakClient) writeAndLeave(key string) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Duration(c.random.Int64N(int64(2*time.Millisecond))))
	defer stop()
	_, _, err := c.sendAndLeave(ctx, keyedCall(c.keyedAddressee(), key, soakNote(key)))
	return err
}

func soakKey(i int) string { return fmt.Sprintf("key%d", i) }

// soakNote is what is written under a key.
func soakNote(key string) string { return fmt.Sprintf(`{"text":%q}`, key) }

// keyedAddressee is a way in that takes keys from here.
func (c *soakClient) keyedAddressee() soakAddressee { return pick(c, addressees()[:2]) }

func keyedCall(to soakAddressee, key, input string) soakRequest {
	if to.name == "MCP" {
		return modernRequest("tools/call", "soak_keep", `"arguments":`+input, fmt.Sprintf(`,"dev.ambit/idempotency-key":%q`, key))
	}
	request := to.request("keep", input)
	request.header = map[string]string{"Idempotency-Key": key}
	return request
}

// list reads the whole list of the API page by page, or that of tools.
func (c *soakClient) list() error {
	if c.random.IntN(2) == 0 {
		return c.listTools()
	}
	listed, query := 0, "?limit=4"
	for query != "" {
		answer, err := c.send(soakRequest{method: http.MethodGet, path: "/api/" + query})
		if err != nil {
			return err
		}
		var page struct {
			Data struct {
				Capabilities []struct{ Name string }
				NextCursor   string
			}
		}
		if err := json.Unmarshal([]byte(answer.body), &page); err != nil || answer.status != http.StatusOK {
			return fmt.Errorf("status %d, %v: %.300s", answer.status, err, answer.body)
		}
		listed += len(page.Data.Capabilities)
		query = ""
		if page.Data.NextCursor != "" {
			query = "?limit=4&cursor=" + page.Data.NextCursor
		}
	}
	return c.complete(listed)
}

func (c *soakClient) listTools() error {
	answer, err := c.send(modernRequest("tools/list", "", "", ""))
	if err != nil {
		return err
	}
	var page struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(answer.body), &page); err != nil || answer.status != http.StatusOK {
		return fmt.Errorf("status %d, %v: %.300s", answer.status, err, answer.body)
	}
	return c.complete(len(page.Result.Tools))
}

func (c *soakClient) complete(listed int) error {
	if want := len(c.subject.app.Capabilities()); listed != want {
		return fmt.Errorf("want %d capabilities listed, got %d", want, listed)
	}
	return nil
}

// batch makes several calls by one request, which the oldest revision has.
func (c *soakClient) batch() error {
	var (
		messages []string
		codes    []ambit.Code
	)
	input, output := c.input()
	for i := range 1 + c.random.IntN(8) {
		called := pick(c, outcomes())
		messages, codes = append(messages, legacyMessage(i, called.capability, input)), append(codes, called.code)
	}
	request := legacyCall("echo", input)
	request.body = "[" + strings.Join(messages, ",") + "]"
	answer, err := c.send(request)
	if err != nil {
		return err
	}
	var responses []json.RawMessage
	if err := json.Unmarshal([]byte(answer.body), &responses); err != nil || len(responses) != len(codes) {
		return fmt.Errorf("want %d responses, got %d, %v: %.300s", len(codes), len(responses), err, answer.body)
	}
	for i, response := range responses {
		result, err := toolResult(response)
		if err != nil {
			return err
		}
		if result.code != codes[i] || codes[i] == "" && result.output != output {
			return fmt.Errorf("response %d: want code %q, got %q: %.300s", i, codes[i], result.code, response)
		}
	}
	return nil
}

// reporting is a call that reports its progress.
func (c *soakClient) reporting() (request soakRequest, output string) {
	input, output := c.input()
	return modernRequest("tools/call", "soak_report", `"arguments":`+input, `,"progressToken":"p"`), output
}

// stream makes a call that reports its progress, and reads all of it.
func (c *soakClient) stream() error {
	request, output := c.reporting()
	answer, err := c.send(request)
	if err != nil {
		return err
	}
	messages := mcpMessages(answer)
	if len(messages) != soakReports+1 {
		return fmt.Errorf("want %d reports and a response, got %d messages: %.300s", soakReports, len(messages), answer.body)
	}
	return addressees()[1].judge(answer, "", output)
}
