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

// readHaltFile returns what a halt file stops, and what of it means nothing and
// therefore stops everything.
func readHaltFile(ctx context.Context, path string) (list []ambit.Halt, misread *ambit.MisreadHalts, err error) {
	list, err = ambit.HaltFile(path).Read(ctx)
	if misread, ok := errors.AsType[*ambit.MisreadHalts](err); ok {
		return list, misread, nil
	}
	return list, nil, err
}

// extendHaltFile adds to what a halt file stops and returns all that it stops
// then. It takes nothing away, and it replaces the file as a whole, so that nobody
// reads half of it.
func extendHaltFile(ctx context.Context, path string, more []ambit.Halt) (list []ambit.Halt, err error) {
	next, err := nextHaltFile(path)
	if err != nil {
		return nil, err
	}
	if list, _, err = readHaltFile(ctx, path); err == nil {
		for _, h := range more {
			if !slices.Contains(list, h) {
				list = append(list, h)
			}
		}
		err = writeHalts(next, list)
	}
	if err = errors.Join(err, next.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(next.Name()))
	}
	return list, os.Rename(next.Name(), path)
}

// removeHaltFile removes a halt file that stops what somebody was shown, and no
// other.
func removeHaltFile(ctx context.Context, path string, shown []ambit.Halt) error {
	lock, err := nextHaltFile(path)
	if err != nil {
		return err
	}
	list, _, err := readHaltFile(ctx, path)
	switch {
	case err != nil:
	case !slices.Equal(list, shown):
		err = ambit.Errorf(ambit.CodeConflict, "More has been stopped in the meantime.").WithHint("Look at it, then try again.")
	default:
		err = os.Remove(path)
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
			return nil, fmt.Errorf("%q cannot stand in a line of a halt file", line)
		}
		list = append(list, h)
	}
	return list, nil
}
