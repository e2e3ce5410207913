package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ambit-dev/ambit"
)

// fileForm is the form of the switch that ambit.HaltFile is.
const fileForm = "file"

// haltFile is a halt file, as an [ambit.HaltSwitch].
type haltFile struct {
	ambit.HaltSource
	path string
}

func newHaltFile(path string) haltFile { return haltFile{ambit.HaltFile(path), path} }

// Halt adds to what the file stops. It takes nothing away but comments, and it
// replaces the file as a whole, so that nobody reads half of it.
func (f haltFile) Halt(ctx context.Context, halts ...ambit.Halt) error {
	if err := f.extend(ctx, halts); err != nil {
		return fmt.Errorf("nothing was halted: %w", err)
	}
	return nil
}

func (f haltFile) extend(ctx context.Context, more []ambit.Halt) error {
	next, err := nextHaltFile(f.path)
	if err != nil {
		return err
	}
	list, _, err := readSwitch(ctx, f)
	if err == nil {
		for _, h := range more {
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
		err = writeHalts(next, list)
	}
	if err = errors.Join(err, next.Close()); err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return os.Rename(next.Name(), f.path)
}

// Resume removes the file if it stops nothing but what was seen.
func (f haltFile) Resume(ctx context.Context, seen []ambit.Halt) error {
	lock, err := nextHaltFile(f.path)
	if err != nil {
		return err
	}
	list, _, err := readSwitch(ctx, f)
	if err == nil {
		err = ambit.UnseenHalts(list, seen)
	}
	if err == nil && len(list) > 0 { // none: somebody else has removed it
		err = os.Remove(f.path)
	}
	if closing := errors.Join(lock.Close(), os.Remove(lock.Name())); err == nil {
		err = closing
	}
	return err
}

// nextHaltFile makes the file that takes the place of a halt file. Whoever has
// it is the only one who changes the halt file.
func nextHaltFile(path string) (*os.File, error) {
	next, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s.new is there: somebody else is halting right now, or was cut off; if that is so, remove it", path)
	}
	return next, err
}

func writeHalts(file *os.File, list []ambit.Halt) error {
	for _, h := range list {
		if _, err := file.WriteString(h.String() + "\n"); err != nil {
			return err
		}
	}
	return file.Sync()
}

// parseHalts reads what to halt from arguments: "agents", "tenant", "acme".
func parseHalts(args []string) (list []ambit.Halt, err error) {
	for len(args) > 0 {
		line := args[0]
		args = args[1:]
		switch line {
		case "principal", "tenant", "capability":
			if len(args) == 0 {
				return nil, fmt.Errorf("%s of what is missing", line)
			}
			line += " " + args[0]
			args = args[1:]
		}
		h, err := ambit.ParseHalt(line)
		if key, ok := strings.CutPrefix(line, "principal "); ok && err != nil {
			return nil, fmt.Errorf("%q is no KEY of a principal, which is LEN:TENANT/LEN:AUTHORITY/SUBJECT: whoami --as NAME writes one", key)
		}
		if err != nil {
			return nil, fmt.Errorf("%q cannot be halted: name all, changes, agents, principal KEY, tenant NAME or capability NAME", line)
		}
		if read, err := ambit.ParseHalt(strings.TrimSpace(line)); err != nil || read != h || strings.Contains(line, "\n") {
			return nil, fmt.Errorf("%q cannot stand in a line of what is halted", line)
		}
		list = append(list, h)
	}
	return list, nil
}
