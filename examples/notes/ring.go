package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ambit-dev/ambit"
)

// openRing returns the keys that seal what leaves the application and comes back:
// those of AMBIT_KEYS, or else those of a file, which is made on first use and
// belongs to its owner alone.
func openRing(path string) (*ambit.KeyRing, error) {
	if text := os.Getenv("AMBIT_KEYS"); text != "" {
		return ambit.ParseKeyRing(text)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeRing(path); err != nil {
			return nil, fmt.Errorf("make the key ring: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key ring: %w", err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, errors.Join(fmt.Errorf("the key ring %s is not for its owner alone: take the rights of others away (chmod 600), and make a new one if they have used them", path), err)
	}
	ring, err := ambit.ParseKeyRing(string(text))
	if err != nil {
		return nil, fmt.Errorf("the key ring %s: %w", path, err)
	}
	return ring, nil
}

// openReviewKeys returns the keys of AMBIT_REVIEW_KEYS, by halves: a process that has
// only those which seal serves agents, and nobody decides in it. Without them, the
// ring is all that it takes to decide.
func openReviewKeys() (*ambit.ReviewKeys, error) {
	text := os.Getenv("AMBIT_REVIEW_KEYS")
	if text == "" {
		return nil, nil
	}
	keys, err := ambit.ParseReviewKeys(text)
	if err != nil {
		return nil, fmt.Errorf("AMBIT_REVIEW_KEYS: %w", err)
	}
	return keys, nil
}

// makeRing makes a file with one new key, whole or not at all. Of several processes
// that start at once, the first one's is taken.
func makeRing(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "keyring-*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(ambit.NewKey() + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
