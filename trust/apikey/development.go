package apikey

import (
	"context"
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
	keys, _, err := readKeys(path)
	if err == nil && lacking(keys, callers) {
		keys, made, err = makeKeys(path, callers)
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

// lacking reports whether a caller has no key.
func lacking(keys map[string]string, callers map[string]*ambit.Principal) bool {
	for name := range callers {
		if keys[name] == "" {
			return true
		}
	}
	return false
}

// makeKeys makes a key for every caller who has none once nobody else does the
// same. It returns all keys, and those that it made.
func makeKeys(path string, callers map[string]*ambit.Principal) (keys, made map[string]string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("apikey: %w", err)
	}
	err = replaceFile(context.Background(), path, func(path string) ([]byte, fs.FileInfo, error) {
		had, info, err := readKeys(path)
		if err != nil || !lacking(had, callers) { // another process was quicker
			keys = had
			return nil, nil, err
		}
		keys, made = make(map[string]string, len(callers)), make(map[string]string, len(callers))
		maps.Copy(keys, had)
		for name := range callers {
			if keys[name] == "" {
				made[name] = Generate()
				keys[name] = made[name]
			}
		}
		text, err := json.MarshalIndent(keys, "", "  ")
		return text, info, err
	})
	return keys, made, err
}

// readKeys returns the keys of a file, none where there is no file.
func readKeys(path string) (keys map[string]string, info fs.FileInfo, err error) {
	data, info, err := readFile(path, 0o077, "read or write it")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := strictjson.Unmarshal(data, &keys); err != nil {
		// The text of the error may hold a part of a key.
		return nil, nil, fmt.Errorf("apikey: %s: is not a JSON object of names and keys: remove it to have it made again", path)
	}
	return keys, info, nil
}
