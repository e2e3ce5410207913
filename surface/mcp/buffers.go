package mcp

// maxPooled is the largest buffer that is kept for later messages.
const maxPooled = 64 << 10

// buffers hold one message and what is made of it.
type buffers struct {
	in      []byte // the message
	out     []byte // the response
	scratch []byte // an output that only its text form needs
}

func (s *Server) buffers() *buffers {
	b := s.pool.Get().(*buffers)
	b.in, b.out, b.scratch = b.in[:0], b.out[:0], b.scratch[:0]
	return b
}

// put keeps the buffers for another message, but for large ones, which a few
// calls would otherwise leave behind for all.
func (s *Server) put(b *buffers) {
	for _, part := range []*[]byte{&b.in, &b.out, &b.scratch} {
		if cap(*part) > maxPooled {
			*part = nil
		}
	}
	s.pool.Put(b)
}
