package httpapi

// maxPooled is the largest buffer that is kept for later requests.
const maxPooled = 64 << 10

// buffers hold the body and the answer of one call.
type buffers struct {
	in, out []byte
}

// put keeps the buffers for another call, but for large ones, which a few calls
// would otherwise leave behind for all.
func (a *api) put(b *buffers) {
	if cap(b.in) > maxPooled {
		b.in = nil
	}
	if cap(b.out) > maxPooled {
		b.out = nil
	}
	a.pool.Put(b)
}
