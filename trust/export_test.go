package trust

import "net/http"

// Remembered returns of how many addresses refusals are kept.
func Remembered(g *Guard) int {
	g.addresses.mu.Lock()
	defer g.addresses.mu.Unlock()
	return g.addresses.refused.Len()
}

// Client returns the address that a request is taken for where these are the
// proxies.
func Client(list []string, r *http.Request) (string, error) {
	p, err := newProxies(list)
	return p.client(r).String(), err
}
