package mcp_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }
