package audit

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// verification is how far the verification of one chain has come.
type verification struct {
	tenant, writer string
	codes          []hash.Hash // under the keys that the chain may have
	known          int         // index of the one that it has; -1 before it is known

	next     uint64 // the number that the next entry has to have
	before   []byte // the code of the entry before that
	anchored bool   // before is known
	floor    uint64 // the number of the last entry that was cut off
	cut      []byte // and its code

	marks    map[uint64]Checkpoint
	furthest uint64 // of the checkpoints

	entries  uint64
	misfits  []uint64 // the numbers of the entries with wrong codes
	wrong    []wrong  // the first of them
	findings []Finding
	gaps     []CountedGap
	open     map[string]intent // those without an outcome, by call

	settled          map[string]bool // of all chains of the tenant: proposals whose calls persons have settled
	signed, unsigned bool            // whether a cut or a checkpoint is, and whether one is not
}

// intent is where a call says that it begins, and by which proposal, if by one.
type intent struct {
	seq      uint64
	proposal string
}

// wrong is an entry whose code is not the one that belongs to it.
type wrong struct {
	entry  Entry
	before []byte // the code of the entry in front of it
}

// maxCompared is how many wrong entries of a chain are kept and compared with each
// other, which takes the cube of it.
const maxCompared = 16

func newVerification(tenant, writer string, keys [][]byte) *verification {
	v := &verification{tenant: tenant, writer: writer, known: -1, next: 1, anchored: true, marks: map[uint64]Checkpoint{}, open: map[string]intent{}}
	for _, key := range keys {
		v.codes = append(v.codes, hmac.New(sha256.New, key))
	}
	return v
}

func (v *verification) found(kind FindingKind, seq, through uint64, format string, args ...any) {
	if len(v.findings) < maxFindings {
		v.findings = append(v.findings, Finding{Kind: kind, Writer: v.writer, Seq: seq, Through: through, Text: fmt.Sprintf(format, args...)})
	}
}

// begin takes what says that the front of the chain was removed.
func (v *verification) begin(c Cut, signed bool) {
	v.signed, v.unsigned = v.signed || signed, v.unsigned || !signed
	if !signed {
		v.found(FoundForgedCut, c.Seq, c.Seq, "The cut at entry %d is not signed by a key of the ring.", c.Seq)
		return
	}
	v.floor, v.cut = c.Seq, c.MAC
	v.next, v.before = c.Seq+1, c.MAC
}

// expect takes a checkpoint.
func (v *verification) expect(c Checkpoint, signed bool) {
	v.signed, v.unsigned = v.signed || signed, v.unsigned || !signed
	if !signed {
		v.found(FoundForgedCheckpoint, c.Seq, c.Seq, "The checkpoint at entry %d is not signed by a key of the ring.", c.Seq)
		return
	}
	if earlier, ok := v.marks[c.Seq]; ok && !bytes.Equal(earlier.MAC, c.MAC) {
		v.found(FoundRecomputed, c.Seq, c.Seq, "Two checkpoints were signed for different chains.")
	}
	v.marks[c.Seq], v.furthest = c, max(v.furthest, c.Seq)
}

// entry verifies the next entry that the store has.
func (v *verification) entry(e *Entry) {
	v.entries++
	if e.Seq < v.next {
		v.found(FoundAltered, e.Seq, e.Seq, "Entry %d stands in the chain a second time, or where the chain was cut off.", e.Seq)
		return
	}
	if e.Seq > v.next {
		v.found(FoundMissing, v.next, e.Seq-1, "%s not there.", spell(v.next, e.Seq-1))
		v.anchored = false // the entry's own code covers one that is gone
	}
	if v.anchored && !v.right(e) {
		if v.misfits = append(v.misfits, e.Seq); len(v.misfits) <= maxCompared {
			v.wrong = append(v.wrong, wrong{entry: *e, before: v.before})
		}
	}
	if mark, ok := v.marks[e.Seq]; ok && !bytes.Equal(mark.MAC, e.MAC) {
		v.found(FoundRecomputed, e.Seq, e.Seq, "Entry %d is not the one that the checkpoint of %s was signed for.", e.Seq, mark.Time.Format("2006-01-02T15:04:05Z07:00"))
	}
	switch e.Kind {
	case KindIntent:
		v.open[e.Call] = intent{e.Seq, e.Proposal}
	case KindOutcome:
		delete(v.open, e.Call)
	case KindDecision:
		if r, err := e.Record(); err == nil && e.Proposal != "" && strings.HasPrefix(r.Verdict, "settle-") {
			v.settled[e.Proposal] = true
		}
	case KindGap:
		if r, err := e.Record(); err == nil && r.Gap != nil {
			v.gaps = append(v.gaps, CountedGap{v.writer, e.Seq, *r.Gap})
		}
	}
	v.next, v.before, v.anchored = e.Seq+1, bytes.Clone(e.MAC), true
}

// unended returns the calls without an outcome that nobody has settled, in the order
// of their intents.
func (v *verification) unended() []Open {
	var list []Open
	for call, begun := range v.open {
		if !v.settled[begun.proposal] {
			list = append(list, Open{v.writer, begun.seq, call})
		}
	}
	slices.SortFunc(list, func(a, b Open) int { return cmp.Compare(a.Seq, b.Seq) })
	return list[:min(len(list), maxFindings)]
}

// right reports whether an entry has the code that belongs to it, under a key of
// the ring. A chain has one key.
func (v *verification) right(e *Entry) bool {
	if v.known >= 0 {
		return hmac.Equal(e.MAC, code(nil, v.codes[v.known], v.before, e))
	}
	for i, mac := range v.codes {
		if hmac.Equal(e.MAC, code(nil, mac, v.before, e)) {
			v.known = i
			return true
		}
	}
	return false
}

// settle says what is wrong with the entries that have wrong codes, and with the
// end of the chain.
func (v *verification) settle() {
	last := v.next - 1
	if mark, ok := v.marks[v.floor]; ok && v.floor > 0 && !bytes.Equal(mark.MAC, v.cut) {
		v.found(FoundRecomputed, v.floor, v.floor, "The chain was cut at another entry %d than the checkpoint was signed for.", v.floor)
	}
	v.explain(last)
	if v.furthest > last {
		v.found(FoundCutTail, last+1, v.furthest, "%s not there: a checkpoint was signed when the chain had %d.", spell(last+1, v.furthest), v.furthest)
	}
}

// explain names what happened to the wrong entries.
func (v *verification) explain(last uint64) {
	altered := v.misfits
	if len(v.misfits) <= maxCompared {
		altered = v.reordered()
	}
	from := len(altered)
	for from > 0 && altered[from-1] == last-uint64(len(altered)-from) {
		from--
	}
	for _, seq := range altered[:from] {
		v.found(FoundAltered, seq, seq, "Entry %d is not as it was written.", seq)
	}
	switch tail := altered[from:]; {
	case len(tail) == 1:
		v.found(FoundAltered, tail[0], tail[0], "Entry %d is not as it was written.", tail[0])
	case len(tail) > 1:
		v.found(FoundRecomputed, tail[0], last, "From %d on, no code is one that a key of the ring makes.", tail[0])
	}
}

// reordered names the wrong entries that were written for another place, and returns
// the numbers of those that were written for none.
func (v *verification) reordered() (altered []uint64) {
	for i := range v.wrong {
		w := &v.wrong[i]
		switch written := v.writtenFor(w); written {
		case 0:
			altered = append(altered, w.entry.Seq)
		case w.entry.Seq: // it is right, behind another than the one in front of it
		default:
			v.found(FoundReordered, w.entry.Seq, w.entry.Seq, "What stands at %d was written for place %d.", w.entry.Seq, written)
		}
	}
	return altered
}

// writtenFor returns the place that a wrong entry was written for, as far as the
// other wrong ones and what stands in front of them tell; zero: for none.
func (v *verification) writtenFor(w *wrong) uint64 {
	places := []uint64{w.entry.Seq}
	var befores, codes [][]byte
	for i := range v.wrong {
		other := &v.wrong[i]
		places = append(places, other.entry.Seq)
		befores = append(befores, other.before, other.entry.MAC)
		codes = append(codes, other.entry.MAC)
	}
	for _, mac := range v.codes {
		for _, place := range places {
			moved := w.entry
			moved.Seq = place
			for _, before := range befores {
				made := code(nil, mac, before, &moved)
				for i := range codes {
					if hmac.Equal(made, codes[i]) && (place != w.entry.Seq || hmac.Equal(made, w.entry.MAC)) {
						return place
					}
				}
			}
		}
	}
	return 0
}

func spell(from, through uint64) string {
	if from == through {
		return fmt.Sprintf("Entry %d is", from)
	}
	return fmt.Sprintf("The entries %d to %d are", from, through)
}
