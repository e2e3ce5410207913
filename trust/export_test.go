package trust

import "net/http"

// Remembered returns of how many addresses refusals are kept.
func Remembered(g *Guard) int {
	g.addresses.mu.Lock()
	defer g.addresses.mu.Unlock()
	return g.addresses.senders.Len()
}

// Client returns the address that a request is taken for where these are the
// proxies, and the header that they write.
func Client(list []string, header string, r *http.Request) (string, error) {
	p, err := newProxies(list, header, false)
	return p.client(r).String(), err
}
