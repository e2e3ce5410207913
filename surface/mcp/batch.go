package mcp

import "github.com/ambit-dev/ambit/internal/strictjson"

// maxBatch is the most messages that a batch may have.
const maxBatch = 16

// batched reports whether a text is an array, which is a batch or nothing.
func batched(text []byte) bool {
	i := strictjson.Space(text, 0)
	return i < len(text) && text[i] == '['
}

// parseBatch reads a batch (JSON-RPC 2.0, section 6). What is wrong with one
// message is in it; the error is about the batch. Two requests with one id
// could not be answered apart.
func parseBatch(text []byte, r revision) ([]message, *rpcError) {
	var batch []message
	seen := map[string]bool{}
	elements := strictjson.Elements(text, strictjson.MaxDepth)
	var failure *rpcError
	for elements.Next() {
		if failure != nil {
			continue // a text that is no JSON is that above all
		}
		m, _ := parse(elements.Value()) // it is JSON: the element was read
		switch {
		case len(batch) == maxBatch:
			failure = invalidRequest("A batch has at most 16 messages.")
		case m.id != nil && !m.reply && seen[sameID(m.id)]:
			failure = invalidRequest("Two requests of the batch have one id.")
		}
		if m.id != nil && !m.reply {
			seen[sameID(m.id)] = true
		}
		if m.refused == nil && m.params.meta.version.set && !m.params.meta.version.is(r.String()) {
			m.refused = headerMismatch("A message of a batch speaks another revision than the batch.")
		}
		batch = append(batch, m)
	}
	switch {
	case elements.Err() != nil:
		return nil, parseError(elements.Err())
	case failure != nil:
		return nil, failure
	case !r.batches():
		return nil, invalidRequest("There are no batches in this revision of the protocol.")
	case len(batch) == 0:
		return nil, invalidRequest("The batch is empty.")
	}
	return batch, nil
}

// respondBatch appends the responses to the n messages of a batch, in its order,
// as an array, or nothing where none is due. Each message is judged, counted and
// answered as if it had come alone.
func (x *exchange) respondBatch(n int, each func(i int)) {
	x.batched, x.listener = true, nil
	start := len(x.out)
	x.out = append(x.out, '[')
	for i := range n {
		before := len(x.out)
		if before > start+1 {
			x.out = append(x.out, ',')
		}
		body := len(x.out)
		if each(i); len(x.out) == body {
			x.out = x.out[:before]
		}
	}
	if len(x.out) == start+1 {
		x.out = x.out[:start]
		return
	}
	x.out = append(x.out, ']')
}
