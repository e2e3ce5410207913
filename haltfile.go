package ambit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// HaltFile returns the form "file" of the switch: while the file exists, what
// its lines name is stopped, see [ParseHalt]. Lines that are blank or begin with
// "#" are passed over; a file that names nothing stops everything, and so does
// one with a line that cannot be read, of which Read tells by a [MisreadHalts].
// Where the file's folder is missing the switch cannot be read. Create the file
// with a rename, so that no half-written list is read.
func HaltFile(path string) HaltSource { return haltFile(path) }

type haltFile string

func (haltFile) Form() string { return "file" }

func (f haltFile) Read(context.Context) ([]Halt, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(string(f)))
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	list, err := parseHaltLines(text)
	if len(list) == 0 || err != nil {
		list = withAll(list)
	}
	return list, err
}

// parseHaltLines reads the lines of a halt file. The error is a *MisreadHalts.
func parseHaltLines(text []byte) (list []Halt, err error) {
	var misread MisreadHalts
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		h, err := ParseHalt(string(line))
		if err != nil {
			misread.Faults = append(misread.Faults, fmt.Errorf("line %d: %w", number, err))
			continue
		}
		list = append(list, h)
	}
	if len(misread.Faults) > 0 {
		return list, &misread
	}
	return list, nil
}
