package ambit

import (
	"crypto/cipher"
	"crypto/hpke"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// reviewMark begins what is sealed for review keys.
	reviewMark = "arv1"
	// reviewHeader is how long mark, name of the key and encapsulated key are.
	reviewHeader = len(reviewMark) + len(reviewID{}) + 32
	// encapsulateFor is how long one encapsulated key is used: whoever sees the
	// memory of a process can open no more than what it sealed in that time.
	encapsulateFor = time.Hour
	// maxEncapsulated bounds how many encapsulated keys of other processes are kept
	// opened.
	maxEncapsulated = 256
)

// reviewSealer seals what is for persons who decide. With [ReviewKeys], what the
// ring has sealed is sealed once more, for them: the ring keeps out what a writer
// to the database made up, and the review keys keep out whoever has the ring.
// Sealing costs a key agreement an hour (HPKE, RFC 9180, with no more than its
// secret export, section 5.3), opening one for each process and hour. It is safe
// for concurrent use.
type reviewSealer struct {
	ring *Sealer
	keys *ReviewKeys // nil: the ring is all
	info []byte      // purpose and application

	sending atomic.Pointer[encapsulated]

	mu     sync.Mutex // guards opened and order
	opened map[[reviewHeader]byte]cipher.AEAD
	order  [][reviewHeader]byte // in which opened got them, oldest first
}

// encapsulated is what one process seals with for a while.
type encapsulated struct {
	header [reviewHeader]byte
	aead   cipher.AEAD
	since  time.Time
}

func newReviewSealer(ring *KeyRing, keys *ReviewKeys, purpose, application string) *reviewSealer {
	return &reviewSealer{
		ring: ring.Sealer(purpose, application), keys: keys, info: []byte("ambit/review/1\x00" + purpose + "\x00" + application),
		opened: map[[reviewHeader]byte]cipher.AEAD{},
	}
}

// exporter is what both ends of an encapsulated key have.
type exporter interface {
	Export(context string, length int) ([]byte, error)
}

// exportedAEAD derives the key that a process seals with.
func exportedAEAD(e exporter) (cipher.AEAD, error) {
	secret, err := e.Export("seal", sha256.Size)
	if err != nil {
		return nil, err
	}
	return newAEAD(secret), nil
}

// seal returns plain, sealed and bound to bound.
func (s *reviewSealer) seal(plain, bound []byte) []byte {
	sealed := s.ring.Seal(nil, plain, bound)
	if s.keys.len() == 0 { // of a zero ReviewKeys Freeze complains
		return sealed
	}
	with := s.sending.Load()
	if now := time.Now(); with == nil || now.Sub(with.since) >= encapsulateFor {
		with = s.encapsulate(now)
	}
	if with == nil {
		return nil
	}
	dst := make([]byte, 0, reviewHeader+len(sealed)+with.aead.Overhead())
	return with.aead.Seal(append(dst, with.header[:]...), nil, sealed, bound)
}

// encapsulate makes what the process seals with from now on. It cannot fail, since
// the key has sealed when it was parsed; if it did, nothing would be kept, and
// nothing shown.
func (s *reviewSealer) encapsulate(now time.Time) *encapsulated {
	key := &s.keys.keys[0]
	enc, sender, err := hpke.NewSender(key.seals, hpke.HKDFSHA256(), hpke.ExportOnly(), s.info)
	if err != nil {
		return nil
	}
	with := &encapsulated{since: now}
	if with.aead, err = exportedAEAD(sender); err != nil {
		return nil
	}
	copy(with.header[:], append(append([]byte(reviewMark), key.id[:]...), enc...))
	s.sending.Store(with)
	return with
}

// open returns what seal was given, for the same purpose, application and bound.
// What the ring alone has sealed opens as well: it is older than the review keys.
func (s *reviewSealer) open(sealed, bound []byte) ([]byte, error) {
	inner, failure := s.openOuter(sealed, bound)
	if failure != nil {
		inner = sealed
	}
	plain, err := s.ring.Open(nil, inner, bound)
	if err != nil && failure != nil {
		err = failure
	}
	return plain, err
}

// openOuter takes off what was sealed for review keys.
func (s *reviewSealer) openOuter(sealed, bound []byte) ([]byte, error) {
	if len(sealed) < reviewHeader || string(sealed[:len(reviewMark)]) != reviewMark {
		return nil, errSealed
	}
	header, text := [reviewHeader]byte(sealed), sealed[reviewHeader:]
	id := reviewID(header[len(reviewMark):])
	missing, now := true, time.Now()
	for i := range s.keys.len() {
		key := &s.keys.keys[i]
		if key.id != id || !key.opensAt(now) {
			continue
		}
		missing = false
		if plain, err := s.openWith(key, header, text, bound); err == nil {
			return plain, nil
		}
	}
	if missing {
		return nil, fmt.Errorf("it is sealed for the review key %s, and the half of that which opens is not in Options.ReviewKeys, or has reached its date", id)
	}
	return nil, errSealed
}

// openWith opens with one key. What it has worked out is kept for the next one of
// the same process, and not where it opened nothing: anybody can make that up.
func (s *reviewSealer) openWith(key *reviewKey, header [reviewHeader]byte, text, bound []byte) ([]byte, error) {
	s.mu.Lock()
	aead := s.opened[header]
	s.mu.Unlock()
	if aead != nil {
		return aead.Open(nil, nil, text, bound)
	}
	recipient, err := hpke.NewRecipient(header[reviewHeader-32:], key.opens, hpke.HKDFSHA256(), hpke.ExportOnly(), s.info)
	if err != nil {
		return nil, err
	}
	if aead, err = exportedAEAD(recipient); err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, text, bound)
	if err == nil {
		s.keep(header, aead)
	}
	return plain, err
}

// keep remembers what a process seals with, and forgets the oldest.
func (s *reviewSealer) keep(header [reviewHeader]byte, aead cipher.AEAD) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened[header] != nil {
		return
	}
	if len(s.order) >= maxEncapsulated {
		delete(s.opened, s.order[0])
		s.order = append(s.order[:0], s.order[1:]...)
	}
	s.opened[header], s.order = aead, append(s.order, header)
}
