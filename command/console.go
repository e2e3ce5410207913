package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

// console asks the person at the terminal. Questions come one at a time. One
// that is left without an answer is the last: what is typed later could be meant
// for it.
type console struct {
	in     io.Reader
	out    io.Writer
	status *statusLine

	turn chan struct{} // holds one value; whoever takes it may ask
	left bool          // a question was left open; for whoever has the turn
}

// newConsole returns nil where nobody could see a question or answer it.
func newConsole(in io.Reader, out io.Writer, status *statusLine) *console {
	if !isTerminal(in) || !isTerminal(out) {
		return nil
	}
	c := &console{in: in, out: out, status: status, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// personAt returns the person at the terminal of a command. Where there is none it
// refuses what takes one, as in "Deciding takes a person".
func personAt(c *cobra.Command, takes string) (*console, error) {
	if person := newConsole(c.InOrStdin(), c.ErrOrStderr(), nil); person != nil {
		return person, nil
	}
	return nil, &ambit.Error{
		Code: ambit.CodeDeclined, Message: takes + ", and there is no terminal to ask on.", Hint: "Run the command on a terminal.",
	}
}

// agree asks a question and returns nil for a yes; otherwise is what a no comes to.
func (c *console) agree(ctx context.Context, question, otherwise string) error {
	line, err := c.ask(ctx, question+" [y]es / [n]o: ")
	if err == nil && !says(line, "y", "yes") {
		err = &ambit.Error{Code: ambit.CodeDeclined, Message: "The person who was asked said no.", Hint: otherwise}
	}
	return err
}

// Ask shows the question of a call. Only what means yes is one.
func (c *console) Ask(ctx context.Context, q ambit.Question) (ambit.Answer, error) {
	choices := "Run it? [y]es / [n]o: "
	if q.Session {
		choices = "Run it? [y]es / [n]o / yes for this [s]ession: "
	}
	line, err := c.ask(ctx, q.String()+choices)
	switch {
	case err != nil:
		return ambit.Deny, err
	case says(line, "s", "session"):
		return ambit.AllowSession, nil
	case says(line, "y", "yes"):
		return ambit.Allow, nil
	}
	return ambit.Deny, nil
}

func says(line string, words ...string) bool {
	for _, word := range words {
		if strings.EqualFold(line, word) {
			return true
		}
	}
	return false
}

// ask shows a text and returns the line that is typed, without the space around
// it; "" where the terminal was closed.
func (c *console) ask(ctx context.Context, text string) (string, error) {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { c.turn <- struct{}{} }()
	if c.left {
		return "", errors.New("command: an earlier question was left open, so no other is asked")
	}
	c.status.clear()
	if _, err := io.WriteString(c.out, text); err != nil {
		return "", err
	}
	typed := make(chan string, 1)
	go func() { typed <- readLine(c.in) }() // it ends with the line or, left open, with the process
	select {
	case line := <-typed:
		if !strings.HasSuffix(line, "\n") {
			_, _ = io.WriteString(c.out, "\n") // the terminal has not moved on; nothing depends on it
			return "", nil
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		c.left = true
		_, _ = io.WriteString(c.out, "\n")
		return "", ctx.Err()
	}
}

// maxAnswer is the most bytes of an answer; no longer one means yes.
const maxAnswer = 1 << 10

// readLine reads to the end of the line and not beyond it. A line that is cut
// short, by the end of the input or by its length, has no newline.
func readLine(r io.Reader) string {
	var line strings.Builder
	for one := make([]byte, 1); line.Len() < maxAnswer; {
		n, err := r.Read(one)
		line.Write(one[:n])
		if err != nil || n > 0 && one[0] == '\n' {
			break
		}
	}
	return line.String()
}
