package trust

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/bucket"
)

// maxAddresses is of how many addresses refusals are remembered at the same
// time. Somebody who has more of them loses nothing by waiting either.
const maxAddresses = 1 << 16

// addresses counts the refused requests of each address, so that guessing a
// credential is not free. An address is one of IPv4, or the /64 of IPv6, which
// is what one customer gets.
type addresses struct {
	proxies      proxies
	public, near bucket.Limit

	mu      sync.Mutex
	senders bucket.Table[sender, tries]
}

// sender is what refusals are counted for.
type sender struct {
	address netip.Prefix
	// foreign: for a Host or Origin that is not the application's. Any page can
	// make its visitors' browsers send such requests, so that they are held
	// against no others of the address.
	foreign bool
}

// tries are what a sender has left.
type tries struct {
	bucket.Bucket
	told bool // the operator, that nothing is left
}

func newAddresses(rate ambit.Rate, proxies proxies) (*addresses, error) {
	public, near := rate, rate
	if rate == (ambit.Rate{}) {
		public = ambit.Rate{Calls: DefaultRefusals, Per: time.Minute}
		near = ambit.Rate{Calls: DefaultNearRefusals, Per: time.Minute}
	}
	idle := func(t *tries, now time.Time) bool { return t.Full(now) }
	a := &addresses{proxies: proxies, senders: bucket.NewTable[sender](idle, maxAddresses)}
	var fault string
	if a.public, fault = bucket.New(public.Calls, public.Per, public.Burst); fault != "" {
		return nil, fmt.Errorf("trust: Options.Refusals: %s: leave it zero for the default, or say how many refusals in which time", fault)
	}
	a.near, _ = bucket.New(near.Calls, near.Per, near.Burst) // is public where that could have a fault
	return a, nil
}

// of returns what refusals of a request count for. Its address is the zero Prefix
// where nobody has an IP address, as over a Unix socket.
func (a *addresses) of(r *http.Request, foreign bool) sender {
	address := a.proxies.client(r)
	bits := address.BitLen()
	if address.Is6() && !address.IsLoopback() { // whose /64 is not loopback
		bits = 64
	}
	return sender{netip.PrefixFrom(address, bits).Masked(), foreign}
}

// limit returns how many refusals an address may have. One of this machine or of
// a private network is a developer's, or that of a proxy that is not configured as
// one, which many senders share.
func (a *addresses) limit(s sender) bucket.Limit {
	address := s.address.Addr()
	if !address.IsValid() || address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return a.near
	}
	return a.public
}

// take takes one of the tries that a sender has left, before it is known what
// becomes of it: those under way count too. Where none is left, it returns how
// long the sender has to wait.
func (a *addresses) take(s sender, now time.Time) (wait time.Duration) {
	limit := a.limit(s)
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.senders.At(s, now)
	if wait = t.Wait(limit, now); wait == 0 {
		t.Take(limit, now)
		t.told = false
	}
	return wait
}

// giveBack gives back a try that was no refusal.
func (a *addresses) giveBack(s sender) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.senders.Find(s); t != nil {
		t.Give(a.limit(s))
	}
}

// exhausted reports whether the sender of a refused request has to wait from now
// on: once, until there is another try.
func (a *addresses) exhausted(s sender, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.senders.Find(s)
	if t == nil || t.told || t.Wait(a.limit(s), now) == 0 {
		return false
	}
	t.told = true
	return true
}
