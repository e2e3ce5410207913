package serve_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/trust"
)

var (
	soakTime = flag.Duration("soak", 2*time.Minute, "how long TestSoak works")
	soakSeed = flag.Uint64("soak-seed", 0, "what the clients of TestSoak decide by; 0 is a new one each time")
)

const (
	soakClients = 32
	// soakWarm is how long it takes until nothing is used for the first time
	// any more; of a shorter soak it is a sixth.
	soakWarm = 20 * time.Second
	// soakGrowth is how much larger the heap may be at the end than it was then.
	soakGrowth = 1.1
	// soakPatience is how long a client waits for something that it is owed
	// before it counts as missing. It is for what hangs.
	soakPatience = 10 * time.Minute
)

// TestSoak lets many clients loose on a server at once: calls that succeed, fail,
// panic, block, report, return too much and break their contract, over HTTP and
// MCP, by clients of which some send garbage, go away, send half of a request,
// or read and write slowly. Who stays must be answered, and nothing may be left
// behind.
//
// A seed fixes what each client does, and not what the scheduler makes of it.
// Clients pause, between two requests and within slow ones, by timers: these are
// part of the load, and nothing that a result depends on waits by them.
func TestSoak(t *testing.T) { // not parallel: it measures the whole process
	if testing.Short() {
		t.Skip("a soak takes minutes")
	}
	if *soakSeed == 0 {
		*soakSeed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -soak-seed=%[1]d", *soakSeed)
	subject := newSoakSubject(t)
	server := start(t, subject.app, serve.Options{
		Trust:  trust.Options{Authenticators: []trust.Authenticator{subject.keys}, Refusals: ambit.Rate{Calls: ambit.Unlimited}},
		Limits: soakLimits(),
		Wrap:   subject.wrap,
	})
	atStart, goroutines := goleak.IgnoreCurrent(), runtime.NumGoroutine()

	warm := min(soakWarm, *soakTime/6)
	first := soakPhase(t, subject, server.address, 0, warm)
	settle(t, atStart, goroutines)
	heapBefore := heapInUse()
	second := soakPhase(t, subject, server.address, 1, *soakTime-warm)
	goroutinesAfter := settle(t, atStart, goroutines)
	heapAfter := heapInUse()

	tally := newSoakTally()
	tally.add(first)
	tally.add(second)
	t.Logf("%s", tally)
	t.Logf("%s", subject)
	t.Logf("goroutines: %d at the start, %d at the end; heap in use: %d bytes after %s, %d at the end (%.3f times)",
		goroutines, goroutinesAfter, heapBefore, warm, heapAfter, float64(heapAfter)/float64(heapBefore))
	tally.check(t)
	subject.check(t)
	if goroutinesAfter > goroutines {
		t.Errorf("goroutines: want %d as at the start, got %d", goroutines, goroutinesAfter)
	}
	if float64(heapAfter) > soakGrowth*float64(heapBefore) {
		t.Errorf("heap in use: want at most %.1f times the %d bytes after %s, got %d", soakGrowth, heapBefore, warm, heapAfter)
	}
	if err := server.shutDown(); err != nil {
		t.Errorf("shutdown: want nil, got %v", err)
	}
}

// soakLimits are short, so that a client that does not read is cut off within
// the soak, and long enough that a slow machine cuts off nobody else.
func soakLimits() serve.Limits {
	return serve.Limits{Header: time.Minute, Stall: 20 * time.Second, Rate: 4 << 20}
}

// soakPhase lets all clients work for some time, until each has done what it had
// begun and closed its connections.
func soakPhase(t *testing.T, subject *soakSubject, address string, phase uint64, length time.Duration) *soakTally {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	total := newSoakTally()
	var (
		mu      sync.Mutex
		clients sync.WaitGroup
	)
	for i := range uint64(soakClients) {
		clients.Go(func() {
			client := newSoakClient(subject, address, int(i), rand.New(rand.NewPCG(*soakSeed, phase<<32|i)))
			client.work(ctx)
			mu.Lock()
			defer mu.Unlock()
			total.add(client.tally)
		})
	}
	clients.Wait()
	return total
}

// settle waits until no goroutine is left that was not there at the start, the
// server's, of connections that have just been closed, and no more than there were
// then. It returns how many there are.
func settle(t *testing.T, atStart goleak.Option, most int) int {
	t.Helper()
	for began := time.Now(); ; {
		err, now := goleak.Find(atStart), runtime.NumGoroutine()
		if err == nil && now <= most {
			return now
		}
		if time.Since(began) > soakPatience {
			t.Errorf("goroutines that the clients left behind: %v", err)
			return now
		}
	}
}

// heapInUse returns the bytes on the heap after collections that also empty what
// pools keep for another round.
func heapInUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
