//go:build unix

package command

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/ambit-dev/ambit"
)

// haltOnSignal is the form "signal" of the halt switch until stop is called:
// SIGUSR1 stops every call of this process, SIGUSR2 releases what SIGUSR1
// stopped.
func haltOnSignal(app *ambit.App) (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	var listening sync.WaitGroup
	listening.Go(func() {
		for s := range signals {
			if s == syscall.SIGUSR1 {
				app.Halt("signal", ambit.Halt{Kind: ambit.HaltAll})
			} else {
				app.Resume("signal")
			}
		}
	})
	return func() {
		signal.Stop(signals) // sends no more once it has returned
		close(signals)
		listening.Wait()
	}
}
