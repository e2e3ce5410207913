package audit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// chain is what a log knows of its chain for one tenant. Whoever takes its turn
// has the head, until it is given back.
type chain struct {
	tenant string
	turn   chan struct{} // holds one value

	// For whoever has the turn.
	writer string
	seq    uint64
	mac    []byte // of the entry seq
	code   hash.Hash
	doubt  bool // whether something follows seq in the store is not known
	tried  []tried

	digests sync.Pool // of hash.Hash: the codes of inputs

	mu  sync.Mutex // guards gap
	gap Gap

	marked Checkpoint // the last one; for the goroutine that writes
}

// tried is what the store was given for the place behind the head, and did not
// take as far as anybody could tell. Until the place is taken it may still turn out
// that it did.
type tried struct {
	code  []byte // of the last entry
	fates []*fate
}

// maxTried is how many of those a chain knows. Transactions older than that many
// tries have ended.
const maxTried = 16

// fate is what became of a line that is given to the store until it takes it. It is
// for whoever has the turn of the chain.
type fate struct{ landed bool }

// chainOf returns the chain of a tenant, which begins with its first entry.
func (l *Log) chainOf(tenant string) *chain {
	l.mu.RLock()
	c := l.chains[tenant]
	l.mu.RUnlock()
	if c != nil {
		return c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.chains[tenant]; c != nil {
		return c
	}
	digest := l.keys.digest(tenant)
	c = &chain{
		tenant: tenant, turn: make(chan struct{}, 1), writer: l.writer,
		code:    hmac.New(sha256.New, l.keys.chain(tenant)[0]),
		digests: sync.Pool{New: func() any { return hmac.New(sha256.New, digest) }},
	}
	c.turn <- struct{}{}
	l.chains[tenant] = c
	return c
}

// digest appends the digest of an input to dst.
func (c *chain) digest(dst, input []byte) []byte {
	code, _ := c.digests.Get().(hash.Hash)
	code.Reset()
	_, _ = code.Write(input)
	dst = code.Sum(dst)
	c.digests.Put(code)
	return dst
}

// extend gives entries the places behind the head and holds those while add puts
// them into the store, all or none. Added is whether they are there, as far as
// anybody can tell: after an error of add the store is asked. Entries that may be
// given to it again have a fate, the others nil; those of which an earlier try has
// landed are passed over.
func (l *Log) extend(ctx context.Context, c *chain, entries []Entry, fates []*fate, add func(ctx context.Context, entries []Entry) (added bool, err error)) (added bool, err error) {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return false, fmt.Errorf("audit: waiting for the chain: %w", ctx.Err())
	}
	defer func() { c.turn <- struct{}{} }()
	if c.doubt {
		if _, err := l.catchUp(ctx, c, nil); err != nil {
			return false, err
		}
	}
	for try := 0; ; try++ {
		if entries, fates = missing(entries, fates); len(entries) == 0 {
			return true, nil
		}
		head := c.place(entries)
		c.doubt = true // also where add does not return
		c.try(head.MAC, fates)
		added, err = add(ctx, entries)
		if err == nil {
			if c.doubt = false; added {
				c.seq, c.mac = head.Seq, head.MAC
				c.settle(head.MAC)
				c.tried = nil
			}
			return added, nil
		}
		writer, seq := c.writer, c.seq
		landed, asking := l.catchUp(ctx, c, head.MAC)
		switch {
		case asking != nil:
			return false, errors.Join(err, asking)
		case landed:
			return true, err
		case c.writer == writer && c.seq == seq || try > 0:
			return false, err
		}
		// Another entry has the place, one whose fate was not known until now or a
		// foreign one, so that the transaction of add surely failed.
	}
}

// missing returns the entries of which no try has landed.
func missing(entries []Entry, fates []*fate) ([]Entry, []*fate) {
	landed := func(f *fate) bool { return f != nil && f.landed }
	if !slices.ContainsFunc(fates, landed) {
		return entries, fates
	}
	var left []Entry
	var theirs []*fate
	for i, f := range fates {
		if !landed(f) {
			left, theirs = append(left, entries[i]), append(theirs, f)
		}
	}
	return left, theirs
}

// try notes that entries with fates are given to the store, the last of them with
// this code.
func (c *chain) try(code []byte, fates []*fate) {
	if !slices.ContainsFunc(fates, func(f *fate) bool { return f != nil }) {
		return
	}
	if len(c.tried) == maxTried {
		c.tried = slices.Delete(c.tried, 0, 1)
	}
	c.tried = append(c.tried, tried{code, fates})
}

// settle notes that the entry with a code is in the store, and those before it.
func (c *chain) settle(code []byte) {
	for _, t := range c.tried {
		if !hmac.Equal(t.code, code) {
			continue
		}
		for _, f := range t.fates {
			if f != nil {
				f.landed = true
			}
		}
	}
}

// place gives entries the time and their places and returns the last.
func (c *chain) place(entries []Entry) (head Entry) {
	before, now := c.mac, time.Now().UTC().Truncate(time.Microsecond)
	for i := range entries {
		e := &entries[i]
		e.Time = now
		e.Writer, e.Seq = c.writer, c.seq+1+uint64(i)
		e.MAC = code(nil, c.code, before, e)
		before = e.MAC
	}
	return entries[len(entries)-1]
}

// catchUp reads what follows the head in the store. Landed reports that an entry
// with the code want is among it. A transaction whose end nobody has learned may
// still end well afterwards; then the next entry finds the place taken.
func (l *Log) catchUp(ctx context.Context, c *chain, want []byte) (landed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer cancel()
	began := c.seq
	for {
		page, _, err := l.store.Entries(ctx, Query{Tenant: c.tenant, Writer: c.writer, FromSeq: c.seq + 1})
		if err != nil {
			return false, fmt.Errorf("audit: reading the end of the chain: %w", err)
		}
		for i := range page {
			e := &page[i]
			if e.Seq != c.seq+1 || !hmac.Equal(e.MAC, code(nil, c.code, c.mac, e)) {
				// Somebody writes to the store who does not have the key. Verify finds
				// it; what happens from now on is recorded all the same.
				l.logger.ErrorContext(ctx, "an entry that this log has not written stands in its audit chain: it begins another chain",
					slog.String("tenant", c.tenant), slog.String("writer", c.writer), slog.Uint64("seq", c.seq+1))
				c.writer, c.seq, c.mac, c.doubt, c.tried = rand.Text(), 0, nil, false, nil
				return landed, nil
			}
			c.seq, c.mac = e.Seq, e.MAC
			c.settle(e.MAC)
			landed = landed || want != nil && hmac.Equal(e.MAC, want)
		}
		if len(page) == 0 {
			if c.doubt = false; c.seq > began { // the place is taken: what else was tried has failed
				c.tried = nil
			}
			return landed, nil
		}
	}
}
