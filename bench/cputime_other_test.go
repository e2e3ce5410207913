//go:build !unix

package bench_test

import (
	"testing"
	"time"
)

// cpuTime returns zero: CPU time is known on Unix only.
func cpuTime(*testing.B) time.Duration { return 0 }
