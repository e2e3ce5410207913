package apikey

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// Development returns an authenticator for the keys of a file that belongs to
// one developer, and makes the keys that are not in it yet. Callers says who
// each key stands for, by the key's name. The keys that it made are returned by
// name, so that the program can show them once; nil where it made none.
//
// The file is a JSON object of names and keys. It is written as a whole or not
// at all, readable by its owner only, in a folder that is made the same way
// where there is none. On Unix a file that others may read or write is an error,
// and so is one whose owner is neither root nor the user of the process; so is,
// everywhere, a file with a name that callers lacks. It is not for production, where
// keys do not stand in files: see [Load].
func Development(path string, callers map[string]*ambit.Principal) (a *Authenticator, made map[string]string, err error) {
	for name, caller := range callers {
		if name == "" || caller == nil {
			return nil, nil, fmt.Errorf("apikey: %s: the caller %q has no name or no principal", path, name)
		}
	}
	keys, err := readKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		keys, made = complete(nil, callers)
		err = createKeys(path, keys)
		if errors.Is(err, fs.ErrExist) {
			// Another process was quicker: its keys are the ones.
			made = nil
			keys, err = readKeys(path)
		}
	case err == nil:
		if keys, made = complete(keys, callers); made != nil {
			err = replaceKeys(path, keys)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	list := make([]Key, 0, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if callers[name] == nil {
			return nil, nil, fmt.Errorf("apikey: %s: key %q stands for nobody: remove it", path, name)
		}
		list = append(list, Key{Name: name, Secret: keys[name], Principal: callers[name]})
	}
	if a, err = newAuthenticator(list); err != nil {
		return nil, nil, fmt.Errorf("apikey: %s: %w", path, err)
	}
	return a, made, nil
}

// complete returns the keys with one more for every caller without one, and
// those alone.
func complete(keys map[string]string, callers map[string]*ambit.Principal) (all, made map[string]string) {
	all = maps.Clone(keys)
	if all == nil {
		all = make(map[string]string, len(callers))
	}
	for name := range callers {
		if all[name] != "" {
			continue
		}
		if made == nil {
			made = make(map[string]string, len(callers))
		}
		made[name] = Generate()
		all[name] = made[name]
	}
	return all, made
}

func readKeys(path string) (map[string]string, error) {
	data, err := readFile(path, 0o077, "read or write it")
	if err != nil {
		return nil, err
	}
	var keys map[string]string
	if err := strictjson.Unmarshal(data, &keys); err != nil {
		// The text of the error may hold a part of a key.
		return nil, fmt.Errorf("apikey: %s: is not a JSON object of names and keys: remove it to have it made again", path)
	}
	return keys, nil
}

// createKeys writes a file that must not exist yet.
func createKeys(path string, keys map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("apikey: %w", err)
	}
	return throughTemporary(path, keys, os.Link)
}

// replaceKeys writes a file anew.
func replaceKeys(path string, keys map[string]string) error {
	return throughTemporary(path, keys, os.Rename)
}

// throughTemporary writes a file beside the final one and then puts it in its
// place, so that no one ever sees half of it. CreateTemp gives the file the
// rights 0600.
func throughTemporary(path string, keys map[string]string, place func(from, to string) error) (err error) {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return fmt.Errorf("apikey: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".keys-*")
	if err != nil {
		return fmt.Errorf("apikey: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // the second name, or all that is left of a failure
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = place(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("apikey: %w", err)
	}
	return nil
}
