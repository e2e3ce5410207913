package approval

import (
	"context"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// happening is what a change of the store is for the record.
type happening struct {
	kind     string
	id       string // of the proposal
	proposal ambit.Proposal
	decision Decision // zero: none was made
}

func entryOf(kind, id string, p ambit.Proposal) happening {
	return happening{kind: kind, id: id, proposal: p}
}

// record makes a change of the store.
func (a *Approvals) record(ctx context.Context, h happening, change func(ctx context.Context, id string, e *audit.Entry) (changed bool, err error)) error {
	_, err := change(ctx, h.id, nil)
	return err
}
