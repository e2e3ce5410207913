package command_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
)

// openPTY returns both ends of a pseudo terminal: the person's and the
// program's.
func openPTY(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil && os.Getenv("CI") != "true" {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var locked, number int32
	for request, argument := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(argument))); errno != 0 {
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	// An interrupt does not throw away what is on its way to the screen.
	var mode syscall.Termios
	for _, request := range []uintptr{syscall.TCGETS, syscall.TCSETS} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, program.Fd(), request, uintptr(unsafe.Pointer(&mode))); errno != 0 {
			t.Fatal(errno)
		}
		mode.Lflag |= syscall.NOFLSH
	}
	return person, program
}

// A person at a real terminal is shown what would be run, and what they type
// decides.
func TestTerminal(t *testing.T) {
	t.Parallel()
	const (
		shown    = "shelf.clear (shelf.clear, destructive)\nInput: {}\nRun it? [y]es / [n]o: "
		declined = `{"code":"declined","message":"The person who was asked said no.","hint":"Do not repeat the call; say why it is needed, or propose another way.","executed":"no"}` + "\n"
		canceled = `{"code":"canceled","message":"The call was canceled.","executed":"no"}` + "\n"
	)
	for _, test := range []struct {
		name, keys string
		code       int
		screen     string
	}{
		{"yes", "y\n", 0, "y\n{}\n"},
		{"no", "n\n", ambit.CodeDeclined.ExitCode(), "n\n" + declined},
		{"end of input", "\x04", ambit.CodeDeclined.ExitCode(), "\n" + declined},
		{"interrupt", "\x03", ambit.CodeCanceled.ExitCode(), "\n" + canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			person, program := openPTY(t)
			c := exec.CommandContext(t.Context(), "stock", "call", "--as", "clerk", "shelf.clear")
			c.Stdin, c.Stdout, c.Stderr = program, program, program
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			_ = program.Close()
			var screen strings.Builder
			read := func(until string) {
				for buffer := make([]byte, 1024); until == "" || !strings.HasSuffix(screen.String(), until); {
					n, err := person.Read(buffer)
					screen.Write(buffer[:n])
					if err != nil {
						return // the program has closed its end
					}
				}
			}
			read("[n]o: ")
			if _, err := io.WriteString(person, test.keys); err != nil {
				t.Fatal(err)
			}
			read("")
			err := c.Wait()
			if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
				t.Fatal(err)
			}
			if want, got := test.code, c.ProcessState.ExitCode(); want != got {
				t.Errorf("exit code: want %d, got %d", want, got)
			}
			// The terminal shows that somebody has interrupted, before or after the program
			// has heard of it.
			got := strings.Replace(strings.ReplaceAll(screen.String(), "\r\n", "\n"), "^C", "", 1)
			if diff := cmp.Diff(shown+test.screen, got); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

// A person at a real terminal decides about what is shown there.
func TestT12_ApprovalsAtARealTerminal(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	id := s.ask("sell", hostileSale)
	person, program := openPTY(t)
	done := make(chan int, 1)
	go func() {
		done <- s.program.Run(t.Context(), []string{"approvals", "approve", id, "--as", "boss"}, program, program, program)
		_ = program.Close()
	}()
	var screen strings.Builder
	read := func(until string) {
		for buffer := make([]byte, 1024); until == "" || !strings.HasSuffix(screen.String(), until); {
			n, err := person.Read(buffer)
			screen.Write(buffer[:n])
			if err != nil {
				return // the program has closed its end
			}
		}
	}
	read("[n]o: ")
	if _, err := io.WriteString(person, "y\n"); err != nil {
		t.Fatal(err)
	}
	read("")
	if code := <-done; code != 0 {
		t.Errorf("exit code: want 0, got %d", code)
	}
	got := aTime.ReplaceAllString(strings.ReplaceAll(strings.ReplaceAll(screen.String(), "\r\n", "\n"), id, "ID"), "TIME")
	if diff := cmp.Diff(shownSale+takenAtWord+"Approve this? [y]es / [n]o: y\napproved\n", got); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}
