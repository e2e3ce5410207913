package trust

// Remembered returns of how many addresses refusals are kept.
func Remembered(g *Guard) int {
	g.addresses.mu.Lock()
	defer g.addresses.mu.Unlock()
	return g.addresses.refused.Len()
}
