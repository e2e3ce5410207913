package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// FindingKind is what sort of thing is wrong with a chain.
type FindingKind string

// The kinds of finding.
const (
	// FoundMissing: entries within a chain, or at its front, are not there, and no
	// signed cut says that they were removed.
	FoundMissing FindingKind = "missing"
	// FoundCutTail: a checkpoint was signed when the chain was longer.
	FoundCutTail FindingKind = "cut-tail"
	// FoundAltered: an entry does not have the code that belongs to it. It was
	// changed, or added by somebody who does not have the keys.
	FoundAltered FindingKind = "altered"
	// FoundReordered: an entry stands at a place that it was not written for, or lists
	// show the entries of a chain in another order than that of the chain.
	FoundReordered FindingKind = "reordered"
	// FoundRecomputed: from an entry on, no code is one of the key ring's, or the
	// chain is another one than a checkpoint was signed for: it was written anew.
	// A retired key that the ring no longer has looks the same.
	FoundRecomputed FindingKind = "recomputed"
	// FoundForgedCut: what says that the front of the chain was removed is not
	// signed by a key of the ring.
	FoundForgedCut FindingKind = "forged-cut"
	// FoundForgedCheckpoint: a checkpoint is not signed by a key of the ring.
	FoundForgedCheckpoint FindingKind = "forged-checkpoint"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	// Kind is what sort of thing.
	Kind FindingKind `json:"kind"`
	// Writer names the chain, Seq the entry, and Through the last of several;
	// equal to Seq where it is one.
	Writer  string `json:"writer"`
	Seq     uint64 `json:"seq"`
	Through uint64 `json:"through"`
	// Text says it in a sentence.
	Text string `json:"text"`
}

// CountedGap is a gap in the record that the record itself tells of: it is no
// finding.
type CountedGap struct {
	// Writer and Seq name the entry that tells of it.
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
	Gap
}

// Open is a call that has an intent and no outcome, and whose end no person has
// settled: it is under way, or was interrupted, and nobody can tell by the record
// whether it took effect.
type Open struct {
	// Writer and Seq name the intent.
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
	// Call is the call's id.
	Call string `json:"call"`
}

// Report is what [Log.Verify] has found out about a tenant's chains.
type Report struct {
	// Tenant is whose.
	Tenant string `json:"tenant"`
	// Chains, Entries and Checkpoints count what was verified.
	Chains      int    `json:"chains"`
	Entries     uint64 `json:"entries"`
	Checkpoints int    `json:"checkpoints"`
	// Hint says that no key of the ring fits anything, since all findings can follow
	// from a wrong ring. Empty: one fits, or there is nothing.
	Hint string `json:"hint,omitempty"`
	// Findings are what is wrong: empty for a record that is as it was written.
	// Of one chain at most a hundred are told.
	Findings []Finding `json:"findings"`
	// Gaps are what the record says it does not have.
	Gaps []CountedGap `json:"gaps"`
	// Open are the calls that have not ended, as far as anybody knows, of one chain at most a hundred.
	Open []Open `json:"open"`
}

// maxFindings is how many findings and open calls of one chain are told.
const maxFindings = 100

// Verify reads all chains of a tenant and compares them with their codes and with
// the checkpoints, of which those of other tenants are passed over. Without
// checkpoints nobody can tell whether the end of a chain is there. It can be done
// while calls are made. An error says that the store could not be read.
func (l *Log) Verify(ctx context.Context, tenant string, checkpoints []Checkpoint) (Report, error) {
	report := Report{Tenant: tenant, Findings: []Finding{}, Gaps: []CountedGap{}, Open: []Open{}}
	chains, err := l.verifications(ctx, tenant, checkpoints, &report)
	if err != nil {
		return Report{}, err
	}
	fits, misfits, settled := false, false, map[string]bool{}
	writers := slices.Sorted(maps.Keys(chains))
	for _, writer := range writers {
		v := chains[writer]
		v.settled = settled
		if err := l.read(ctx, v); err != nil {
			return Report{}, err
		}
		v.settle()
		report.Chains++
		report.Entries += v.entries
		report.Findings = append(report.Findings, v.findings...)
		report.Gaps = append(report.Gaps, v.gaps...)
		fits = fits || v.signed || v.known >= 0
		misfits = misfits || v.unsigned || len(v.misfits) > 0
	}
	for _, writer := range writers { // when it is known what was settled
		report.Open = append(report.Open, chains[writer].unended()...)
	}
	if misfits && !fits {
		report.Hint = "No key of the ring fits any entry, cut or checkpoint: is this the right key ring? If it is, all of it was written anew."
	}
	if err := l.readList(ctx, tenant, &report); err != nil {
		return Report{}, err
	}
	return report, nil
}

// readList verifies that lists show the entries of each chain in its order, which
// the codes do not cover: of each chain it tells the first that stands elsewhere.
func (l *Log) readList(ctx context.Context, tenant string, report *Report) error {
	last, told := map[string]uint64{}, map[string]bool{}
	for q := (Query{Tenant: tenant, Limit: 1000}); ; {
		page, next, err := l.store.Entries(ctx, q)
		if err != nil {
			return fmt.Errorf("audit: reading the entries in the order of lists: %w", err)
		}
		for i := range page {
			e := &page[i]
			if before := last[e.Writer]; e.Seq < before && !told[e.Writer] {
				told[e.Writer] = true
				report.Findings = append(report.Findings, Finding{
					Kind: FoundReordered, Writer: e.Writer, Seq: e.Seq, Through: e.Seq,
					Text: fmt.Sprintf("Lists show entry %d behind entry %d.", e.Seq, before),
				})
			}
			last[e.Writer] = e.Seq
		}
		if next == "" {
			return nil
		}
		q.After = next
	}
}

// verifications returns the beginnings of all chains that there are or have to
// be: those with entries, those with a cut, and those with a checkpoint.
func (l *Log) verifications(ctx context.Context, tenant string, checkpoints []Checkpoint, report *Report) (map[string]*verification, error) {
	heads, err := l.store.Chains(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("audit: reading the chains: %w", err)
	}
	cuts, err := l.store.Cuts(ctx, tenant)
	if err != nil {
		return nil, fmt.Errorf("audit: reading the cuts: %w", err)
	}
	keys, signers := l.keys.chain(tenant), l.keys.signers()
	chains := map[string]*verification{}
	of := func(writer string) *verification {
		if chains[writer] == nil {
			chains[writer] = newVerification(tenant, writer, keys)
		}
		return chains[writer]
	}
	for _, head := range heads {
		of(head.Writer)
	}
	for _, cut := range cuts {
		of(cut.Writer).begin(cut, signers.signed(cut.text(), cut.Signature))
	}
	for _, mark := range checkpoints {
		if mark.Tenant != tenant {
			continue
		}
		report.Checkpoints++
		of(mark.Writer).expect(mark, signers.signed(mark.text(), mark.Signature))
	}
	return chains, nil
}

// read verifies the entries of a chain.
func (l *Log) read(ctx context.Context, v *verification) error {
	for q := (Query{Tenant: v.tenant, Writer: v.writer, Limit: 1000}); ; {
		page, next, err := l.store.Entries(ctx, q)
		if err != nil {
			return fmt.Errorf("audit: reading the entries: %w", err)
		}
		for i := range page {
			v.entry(&page[i])
		}
		if next == "" {
			return nil
		}
		q.After = next
	}
}
