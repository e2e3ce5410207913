package command

import (
	"errors"
	"os"
)

// writeSecret writes a line to a file that must not exist, for its owner alone, and
// leaves none behind that is not complete.
func writeSecret(path string, secret []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(secret, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
