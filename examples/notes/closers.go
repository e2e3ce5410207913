package main

import (
	"errors"
	"slices"
)

// closers close what was opened, the last first.
type closers []func() error

func (c *closers) add(closeIt func() error) { *c = append(*c, closeIt) }

func (c *closers) close() error {
	var failed []error
	for _, closeIt := range slices.Backward(*c) {
		failed = append(failed, closeIt())
	}
	return errors.Join(failed...)
}
