package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// keyboard is a terminal on which somebody types.
type keyboard struct {
	io.Reader
	mode fs.FileMode
}

func (k keyboard) Stat() (fs.FileInfo, error) { return fileInfo{mode: k.mode}, nil }

func typed(text string) keyboard { return keyboard{strings.NewReader(text), fs.ModeCharDevice} }

var question = ambit.Question{Capability: "mail.send", Title: "Send a mail", Effect: ambit.External, Input: []byte(`{"to":"eve"}`), Session: true}

// Nothing but a whole line with a word that means yes means yes.
func TestConsoleAnswers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ambit.Answer{
		"y\n": ambit.Allow, "yes\n": ambit.Allow, "YES\r\n": ambit.Allow, " Y \n": ambit.Allow, "y\nn\n": ambit.Allow,
		"s\n": ambit.AllowSession, "Session\n": ambit.AllowSession,
		"": ambit.Deny, "\n": ambit.Deny, "n\n": ambit.Deny, "no\n": ambit.Deny, "yes please\n": ambit.Deny, "ja\n": ambit.Deny,
		"y": ambit.Deny, "s": ambit.Deny, "y\x00\n": ambit.Deny, "уes\n": ambit.Deny, // the last one begins with a Cyrillic letter
		strings.Repeat(" ", maxAnswer) + "y\n": ambit.Deny,
	} {
		got, err := newConsole(typed(text), &screen{mode: fs.ModeCharDevice}, nil).Ask(t.Context(), question)
		if got != want || err != nil {
			t.Errorf("%q: want %d, got %d, %v", text, want, got, err)
		}
	}
}

// One question is answered by one line, and what is typed ahead is not swallowed.
func TestConsoleAsksInTurn(t *testing.T) {
	t.Parallel()
	out := &screen{mode: fs.ModeCharDevice}
	c := newConsole(typed("y\nn\n"), out, nil)
	final := question
	final.Session = false
	for _, want := range []struct {
		question ambit.Question
		answer   ambit.Answer
	}{{question, ambit.Allow}, {final, ambit.Deny}, {final, ambit.Deny}} {
		if got, err := c.Ask(t.Context(), want.question); got != want.answer || err != nil {
			t.Errorf("want %d, got %d, %v", want.answer, got, err)
		}
	}
	want := question.String() + "Run it? [y]es / [n]o / yes for this [s]ession: " +
		question.String() + "Run it? [y]es / [n]o: " +
		question.String() + "Run it? [y]es / [n]o: \n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

// Nobody is asked who cannot see the question or cannot answer it.
func TestConsoleNeedsATerminal(t *testing.T) {
	t.Parallel()
	terminal := &screen{mode: fs.ModeCharDevice}
	if c := newConsole(keyboard{strings.NewReader("y\n"), 0}, terminal, nil); c != nil {
		t.Error("answers from a file: want no console")
	}
	if c := newConsole(typed("y\n"), &screen{}, nil); c != nil {
		t.Error("questions to a file: want no console")
	}
	if c := newConsole(strings.NewReader("y\n"), terminal, nil); c != nil {
		t.Error("answers from memory: want no console")
	}
}

// broken is a screen that shows nothing.
type broken struct{}

func (broken) Stat() (fs.FileInfo, error) { return fileInfo{mode: fs.ModeCharDevice}, nil }

func (broken) Write([]byte) (int, error) { return 0, errors.New("no screen") }

// A question that was not shown has no answer.
func TestConsoleThatShowsNothing(t *testing.T) {
	t.Parallel()
	out := broken{}
	for name, prompter := range map[string]ambit.Prompter{
		"console": newConsole(typed("y\n"), out, nil),
		"--yes":   &advance{out: out},
	} {
		if got, err := prompter.Ask(t.Context(), question); got != ambit.Deny || err == nil {
			t.Errorf("%s: want no and an error, got %d, %v", name, got, err)
		}
	}
}

// A question that is left open is the last one: a line that comes late answers
// neither it nor another.
func TestConsoleLeftOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, person := io.Pipe()
		c := newConsole(keyboard{in, fs.ModeCharDevice}, &screen{mode: fs.ModeCharDevice}, nil)
		ctx, leave := context.WithCancel(t.Context())
		denied := make(chan error)
		ask := func(ctx context.Context) {
			answer, err := c.Ask(ctx, question)
			if answer != ambit.Deny {
				t.Errorf("want no, got %d", answer)
			}
			denied <- err
		}
		go ask(ctx)
		synctest.Wait()
		gone, leaveAtOnce := context.WithCancel(t.Context())
		leaveAtOnce()
		go ask(gone)
		if err := <-denied; !errors.Is(err, context.Canceled) {
			t.Errorf("left while another is asked: want canceled, got %v", err)
		}
		leave()
		if err := <-denied; !errors.Is(err, context.Canceled) {
			t.Errorf("left: want canceled, got %v", err)
		}
		if _, err := io.WriteString(person, "y\n"); err != nil {
			t.Error(err)
		}
		go ask(t.Context())
		if err := <-denied; err == nil {
			t.Error("asked after that: want an error, got none")
		}
	})
}

// What a monitor has against a call takes a person's word about that call, which
// --yes is not.
func TestT18_YesInAdvance(t *testing.T) {
	t.Parallel()
	concern := question
	concern.Concern = "never mailed before"
	for _, test := range []struct {
		name     string
		question ambit.Question
		person   ambit.Prompter
		want     ambit.Answer
		screen   string
	}{
		{"no concern", question, nil, ambit.Allow, question.String() + "Run, because of --yes.\n"},
		{"a concern and nobody there", concern, nil, ambit.Deny, ""},
		{"a concern and a person who says no", concern, newConsole(typed("n\n"), &screen{mode: fs.ModeCharDevice}, nil), ambit.Deny, ""},
		{"a concern and a person who says yes", concern, newConsole(typed("y\n"), &screen{mode: fs.ModeCharDevice}, nil), ambit.Allow, ""},
	} {
		out := &screen{mode: fs.ModeCharDevice}
		got, _ := (&advance{out: out, person: test.person}).Ask(t.Context(), test.question)
		if got != test.want {
			t.Errorf("%s: want %d, got %d", test.name, test.want, got)
		}
		if diff := cmp.Diff(test.screen, out.String()); diff != "" {
			t.Errorf("%s: screen (-want +got):\n%s", test.name, diff)
		}
	}
}
