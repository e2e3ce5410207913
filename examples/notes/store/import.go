package store

import (
	"context"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/examples/notes/notes"
)

// Import implements notes.Import. The whole import is one transaction: when a
// note is faulty, the call is canceled or the process dies, nothing is written.
func (s *Store) Import(ctx context.Context, in notes.ImportInput) (notes.ImportOutput, error) {
	drafts := parseMarkdown(in.Text)
	if in.Format == "text" {
		drafts = parseText(in.Text)
	}
	if len(drafts) == 0 {
		return notes.ImportOutput{IDs: []int64{}, Hint: "The text holds no note: it is blank."}, nil
	}
	if err := checkDrafts(drafts); err != nil {
		return notes.ImportOutput{}, err
	}

	call := ambit.FromContext(ctx) // nil outside a call, and then silent
	var ids []int64
	err := s.write(ctx, func(ctx context.Context, tx transaction) (err error) {
		ids, err = insertAll(ctx, tx, drafts, time.Now(), func(done int) {
			call.Progress(float64(done), float64(len(drafts)), fmt.Sprintf("%d of %d notes", done, len(drafts)))
		})
		return err
	})
	if err != nil {
		return notes.ImportOutput{}, fmt.Errorf("import: %w", err)
	}
	return notes.ImportOutput{Imported: len(ids), IDs: ids}, nil
}

// insertAll writes the drafts in order and tells written how many are done
// after each of them.
func insertAll(ctx context.Context, tx transaction, drafts []draft, now time.Time, written func(done int)) ([]int64, error) {
	ids := make([]int64, 0, len(drafts))
	for i, d := range drafts {
		id, err := insert(ctx, tx, d, now)
		if err != nil {
			return nil, fmt.Errorf("note %d: %w", i+1, err)
		}
		ids = append(ids, id)
		written(i + 1)
	}
	return ids, nil
}

// checkDrafts holds what an import has read to the limits that the contracts
// publish for single notes.
func checkDrafts(drafts []draft) error {
	if len(drafts) > notes.MaxImport {
		return ambit.Invalid("/text", fmt.Sprintf("the text holds %d notes; at most %d fit into one import: split it", len(drafts), notes.MaxImport))
	}
	tagForm := regexp.MustCompile(notes.TagPattern)
	for i, d := range drafts {
		if fault := d.fault(tagForm); fault != "" {
			return ambit.Invalid("/text", fmt.Sprintf("note %d of %d: %s", i+1, len(drafts), fault))
		}
	}
	return nil
}

// fault says what is wrong with a draft, or nothing.
func (d draft) fault(tagForm *regexp.Regexp) string {
	switch {
	case d.title == "":
		return "it has no title"
	case utf8.RuneCountInString(d.title) > notes.MaxTitle:
		return fmt.Sprintf("its title is longer than %d characters", notes.MaxTitle)
	case utf8.RuneCountInString(d.body) > notes.MaxBody:
		return fmt.Sprintf("its text is longer than %d characters", notes.MaxBody)
	case len(d.tags) > notes.MaxTags:
		return fmt.Sprintf("it has more than %d tags", notes.MaxTags)
	}
	for _, tag := range d.tags {
		if len(tag) > notes.MaxTag || !tagForm.MatchString(tag) {
			return fmt.Sprintf("a tag is 1 to %d lower-case letters, digits and hyphens, and one of its tags is not", notes.MaxTag)
		}
	}
	return ""
}
