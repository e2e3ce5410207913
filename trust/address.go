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
	refused bucket.Table[netip.Prefix, bucket.Bucket]
}

func newAddresses(rate ambit.Rate, proxies proxies) (*addresses, error) {
	public, near := rate, rate
	if rate == (ambit.Rate{}) {
		public = ambit.Rate{Calls: DefaultRefusals, Per: time.Minute}
		near = ambit.Rate{Calls: DefaultNearRefusals, Per: time.Minute}
	}
	a := &addresses{proxies: proxies, refused: bucket.NewTable[netip.Prefix]((*bucket.Bucket).Full, maxAddresses)}
	var fault string
	if a.public, fault = bucket.New(public.Calls, public.Per, public.Burst); fault != "" {
		return nil, fmt.Errorf("trust: Options.Refusals: %s: leave it zero for the default, or say how many refusals in which time", fault)
	}
	a.near, _ = bucket.New(near.Calls, near.Per, near.Burst) // is public where that could have a fault
	return a, nil
}

// of returns what refusals of a request count for. It is the zero Prefix where
// nobody has an IP address, as over a Unix socket.
func (a *addresses) of(r *http.Request) netip.Prefix {
	address := a.proxies.client(r)
	bits := address.BitLen()
	if address.Is6() && !address.IsLoopback() { // whose /64 is not loopback
		bits = 64
	}
	return netip.PrefixFrom(address, bits).Masked()
}

// limit returns how many refusals an address may have. One of this machine or of
// a private network is a developer's, or that of a proxy that is not configured as
// one, which many senders share.
func (a *addresses) limit(of netip.Prefix) bucket.Limit {
	address := of.Addr()
	if !address.IsValid() || address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return a.near
	}
	return a.public
}

// wait returns how long an address has to wait until it may send again.
func (a *addresses) wait(r *http.Request, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused.Len() == 0 { // as nearly always
		return 0
	}
	of := a.of(r)
	if b := a.refused.Find(of); b != nil {
		return b.Wait(a.limit(of), now)
	}
	return 0
}

// count counts one refusal. It reports whether the address has to wait from now
// on.
func (a *addresses) count(r *http.Request, now time.Time) (exhausted bool) {
	of := a.of(r)
	limit := a.limit(of)
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.refused.At(of, now)
	if b.Wait(limit, now) > 0 {
		return false // others of the same address were refused meanwhile
	}
	b.Take(limit, now)
	return b.Wait(limit, now) > 0
}
