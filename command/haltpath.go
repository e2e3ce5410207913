package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ambit-dev/ambit"
)

// Who says where the halt file is; each overrides those below.
const (
	haltFileFlag     = "halt-file"
	haltFileVariable = "AMBIT_HALT_FILE"
	haltFileOption   = "command.Options.HaltFile"
)

// addHaltFile adds the flag to a command. The application of a command that has
// it obeys the file.
func addHaltFile(c *cobra.Command) {
	c.Flags().String(haltFileFlag, "", "`FILE` that halts calls while it is there (default: what "+haltFileVariable+" or the program names)")
}

// givenHaltFile returns the halt file that the command is given, "" for none, and
// what gave it.
func givenHaltFile(c *cobra.Command) (path, by string, err error) {
	flag := c.Flags().Lookup(haltFileFlag)
	if !flag.Changed {
		return os.Getenv(haltFileVariable), haltFileVariable, nil
	}
	if path = flag.Value.String(); path == "" {
		return "", "", misused(c, errors.New("the file of --"+haltFileFlag+" is empty"))
	}
	return path, "--" + haltFileFlag, nil
}

// obeyHaltFile makes an application obey the halt file of its command.
func obeyHaltFile(c *cobra.Command, app *ambit.App, options Options) error {
	path, by, err := givenHaltFile(c)
	if err != nil {
		return err
	}
	if path == "" {
		path, by = options.HaltFile, haltFileOption
	}
	if path == "" {
		return nil
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return fmt.Errorf("command: the halt file is to be %s (by %s), and its folder is not there: make it first", path, by)
	}
	if err := app.AddHaltSource(ambit.HaltFile(path)); err != nil {
		return fmt.Errorf("command: the halt file %s (by %s) cannot be obeyed: %w\n"+
			"command: leave --%s and %s out, or let the program name its halt file by %s and not in ambit.Options.HaltSources",
			path, by, err, haltFileFlag, haltFileVariable, haltFileOption)
	}
	return nil
}
