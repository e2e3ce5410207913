package schema

import "errors"

type parseOptions struct{ formats, embedded bool }

func parseText(text []byte, o parseOptions) (*node, error) { return nil, errors.New("not ready") }

// Parse compiles a JSON Schema 2020-12 text.
func Parse(text []byte) (*Schema, error) {
	n, err := parseText(text, parseOptions{formats: true})
	if err != nil {
		return nil, err
	}
	return finish(n, nil), nil
}
