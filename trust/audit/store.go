package audit

import (
	"context"
	"time"

	"github.com/ambit-dev/ambit"
)

// Entry is one line of a chain. A chain belongs to one tenant and one writer; in
// it, sequence numbers follow each other without a gap, and each entry's MAC
// covers the one before.
type Entry struct {
	// Tenant is whose chain it is; the empty tenant is a tenant.
	Tenant string
	// Writer is the random id of the [Log] that wrote it.
	Writer string
	// Seq is the entry's number in its chain, from 1 on.
	Seq uint64
	// Time is when it was written, by the writer's clock.
	Time time.Time
	// Kind says what it records, as in "call", "intent", "decision", "gap".
	Kind string
	// Principal, Capability, Call, Run and Proposal are what it can be found by.
	// Any of them may be empty.
	Principal, Capability, Call, Run, Proposal string
	// Body is the entry's JSON, which the members above repeat a part of.
	Body []byte
	// MAC is the authentication code of the entry and of the MAC before it.
	MAC []byte
}

// Query says which entries of one tenant to read. Every member that is not zero
// narrows it.
type Query struct {
	// Tenant is whose entries; there is no way to ask for those of all.
	Tenant string
	// Writer reads one chain, in the order of Seq, and FromSeq says from which
	// number on. FromSeq has no meaning without Writer.
	Writer  string
	FromSeq uint64
	// Since and Until bound Entry.Time, Until excluded.
	Since, Until time.Time
	// Kind, Principal, Capability, Call, Run and Proposal are what entries have.
	Kind, Principal, Capability, Call, Run, Proposal string
	// After is the cursor that the last page ended with; empty for the first.
	After string
	// Limit is how many entries a page has at most. Zero: 100; most: 1,000.
	Limit int
	// Newest reads backward, the newest entry first.
	Newest bool
}

// Cut is what is left of the front of a chain that was removed because it was
// old enough: from it on, the rest can be verified. It is signed as a
// checkpoint is.
type Cut struct {
	// Tenant, Writer and Seq name the last entry that was removed.
	Tenant, Writer string
	Seq            uint64
	// MAC is the MAC of that entry.
	MAC []byte
	// Time is when it was cut.
	Time time.Time
	// Signature covers all of the above.
	Signature []byte
}

// Store keeps entries; it is the application's [ambit.Ledger] too, since an
// intent is written together with the claim of its call. The database packages
// under store have one, and package store/storetest is the suite that says
// whether one is right. Methods are safe for concurrent use, by several processes
// too, and return when ctx ends. Times are kept to the microsecond.
type Store interface {
	ambit.Ledger

	// Append adds entries, all or none. An entry whose place in its chain is
	// taken is an error, and so nothing is ever overwritten.
	Append(ctx context.Context, entries ...Entry) error
	// ClaimWith is [ambit.Ledger.Claim], which adds an entry in the same
	// transaction where the claim is made, and nothing where it is not. A claim
	// with neither key nor approval is always made, and only adds the entry.
	ClaimWith(ctx context.Context, c ambit.Claim, e Entry) (ambit.Record, error)
	// FinishWith is [ambit.Ledger.Finish], which adds an entry in the same
	// transaction. Where the claim has neither key nor approval it only adds the
	// entry. A claim that has been finished already is an error, whoever has done
	// it: the entry would be a second outcome.
	FinishWith(ctx context.Context, c ambit.Claim, ending ambit.Ending, e Entry) error
	// Entries returns a page of entries, in the order in which the store took them
	// or, of one chain, of their numbers, and backward where the query says so; and
	// the cursor of the next page, empty at the end.
	Entries(ctx context.Context, q Query) (page []Entry, next string, err error)
	// Chains returns the last entry of every chain of a tenant.
	Chains(ctx context.Context, tenant string) ([]Entry, error)
	// Tenants returns every tenant that has a chain.
	Tenants(ctx context.Context) ([]string, error)
	// Cuts returns the cuts of a tenant's chains, the newest of each.
	Cuts(ctx context.Context, tenant string) ([]Cut, error)
	// Prune removes the entries of a chain up to the one that the cut names, and
	// keeps the cut, in one transaction.
	Prune(ctx context.Context, c Cut) error
}
