package ambit

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// DefaultPage is how many entries a page of a catalog has unless asked for
// fewer, and the most that it may have.
const DefaultPage = 100

// Catalog is what a surface may list: one prebuilt text per capability exposed
// there, in the order of names. What a caller sees of it is decided page by
// page, by the check that calls use; nothing is kept per caller. It is
// immutable and safe for concurrent use.
type Catalog struct {
	app     *App
	surface Surface
	entries []catalogEntry
	set     [sha256.Size]byte // of all texts: a cursor holds for one set
}

// catalogEntry holds what decides about most entries of a page, so that a
// listing does not have to fetch the rest of them.
type catalogEntry struct {
	*entry
	permission int // the entry's
	text       []byte
}

// Catalog builds the catalog of one surface: render writes the entry of one
// capability, in JSON or whatever form the surface lists, and may use one buffer
// for all, since the texts are copied. It freezes the application and fails with
// what Freeze or render said.
func (a *App) Catalog(surface Surface, render func(AnyContract) ([]byte, error)) (*Catalog, error) {
	if err := a.Freeze(); err != nil {
		return nil, err
	}
	c := &Catalog{app: a, surface: surface}
	hash := sha256.New()
	for _, e := range a.entries {
		if !surface.open() && !e.contract.spec.Expose.Has(surface) {
			continue
		}
		text, err := render(e.public)
		if err != nil {
			return nil, fmt.Errorf("ambit: catalog entry of %q: %w", e.contract.spec.Name, err)
		}
		// A copy has no room to spare, which would stay as long as the catalog.
		c.entries = append(c.entries, catalogEntry{e, e.permission, slices.Clone(text)})
		_, _ = hash.Write(text) // a hash never fails
	}
	hash.Sum(c.set[:0])
	return c, nil
}

// Page appends to dst the texts of the entries that the run's principal can
// call, joined by commas, from cursor on and at most limit of them, and returns
// the cursor of the next page: "" at the end. The first cursor is ""; limit is
// DefaultPage where it is less than one or more than that. A cursor that this
// application did not give to this principal is CodeInvalidInput; a run that may
// not exist, or a policy that fails, is the error that a call would get.
func (c *Catalog) Page(ctx context.Context, run *Run, dst []byte, cursor string, limit int) (page []byte, next string, err error) {
	if run.Err() != nil {
		return dst, "", run.err
	}
	if failure := c.app.fresh(ctx, run, time.Now(), time.Time{}); failure != nil {
		return dst, "", c.app.completeListing(ctx, failure.completed(c.app.errorOptions()))
	}
	if run.surface != c.surface {
		e := &Error{Code: CodeInternal, cause: errorText("a catalog of one surface was paged by a run of another")}
		return dst, "", e.completed(c.app.errorOptions())
	}
	if limit < 1 || limit > DefaultPage {
		limit = DefaultPage
	}
	position, ok := c.open(run, cursor)
	if !ok {
		return dst, "", Invalid("/cursor", "The cursor is not one that this list gave out. Start again without a cursor.")
	}
	return c.page(ctx, run, dst, position, limit)
}

func (c *Catalog) page(ctx context.Context, run *Run, dst []byte, position, limit int) (page []byte, next string, err error) {
	start := len(dst)
	known := make(verdicts, len(c.app.permissions))
	count := 0
	for ; position < len(c.entries); position++ {
		e := &c.entries[position]
		if known[e.permission] == lacked {
			continue
		}
		refused := c.app.admit(ctx, run, e.entry, false, known)
		switch {
		case refused.refused() && !refused.hides():
			return dst[:start], "", c.app.completeListing(ctx, c.app.refuse(e.entry, "", refused))
		case refused.refused():
			continue
		}
		if count == limit {
			return dst, c.cursor(run, position), nil
		}
		if count++; count > 1 {
			dst = append(dst, ',')
		}
		if size := len(e.text) + 1; cap(dst)-len(dst) < size {
			// Entries are much of one size, so that this makes room for the
			// rest of the page at once.
			dst = slices.Grow(dst, size*min(limit-count+2, len(c.entries)-position))
		}
		dst = append(dst, e.text...)
	}
	return dst, "", nil
}

// completeListing logs what made a listing fail.
func (a *App) completeListing(ctx context.Context, failure *Error) *Error {
	a.logger.ErrorContext(ctx, "listing failed", "code", string(failure.Code), RunFromContext(ctx).logged(), "cause", failure.cause)
	return failure
}

// bound is what a cursor is good for: this set, on this surface, for this
// principal.
func (c *Catalog) bound(run *Run) []byte {
	b := append([]byte("cursor\x00"), c.set[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(c.surface))
	return append(b, run.key...)
}

func (c *Catalog) cursor(run *Run, position int) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(position))
	return base64.RawURLEncoding.EncodeToString(c.app.seals.cursors.Seal(nil, plain, c.bound(run)))
}

func (c *Catalog) open(run *Run, cursor string) (position int, ok bool) {
	if cursor == "" {
		return 0, true
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	plain, err := c.app.seals.cursors.Open(nil, sealed, c.bound(run))
	if err != nil || len(plain) != 8 {
		return 0, false
	}
	return int(binary.BigEndian.Uint64(plain)), true
}
