//go:build !unix

package command

import "github.com/ambit-dev/ambit"

// haltOnSignal does nothing: this system has no signals to spare.
func haltOnSignal(*ambit.App) (stop func()) { return func() {} }
