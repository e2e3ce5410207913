//go:build race

package ambit_test

const raceEnabled = true
