package mcp

const (
	// maxPooled is the largest buffer that is kept with the others for later
	// messages, as many as there are messages at a time.
	maxPooled = 64 << 10
	// maxLarge is the largest buffer that is kept at all: a page of tools with
	// ordinary schemas has half of that.
	maxLarge = 256 << 10
)

// buffers hold one message and what is made of it.
type buffers struct {
	in      []byte // the message
	out     []byte // the response
	scratch []byte // an output that only its text form needs
	set     []byte // the out that a large one stands in for, nil for none
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
			s.putLarge(*part)
			*part = nil
		}
	}
	if b.out == nil {
		b.out, b.set = b.set, nil
	}
	s.pool.Put(b)
}

// putLarge keeps a large buffer for a page of a list, until the collector wants
// it: a server that has been busy once must not stay large.
func (s *Server) putLarge(buffer []byte) {
	if cap(buffer) <= maxLarge {
		s.large.Put(&buffer)
	}
}

// enlarge gives a response that is going to be large a buffer that was, if there
// is one.
func (s *Server) enlarge(b *buffers) {
	if cap(b.out) > maxPooled {
		return
	}
	if buffer, ok := s.large.Get().(*[]byte); ok {
		b.out, b.set = append((*buffer)[:0], b.out...), b.out
	}
}
