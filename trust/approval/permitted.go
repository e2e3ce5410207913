package approval

import (
	"context"

	"github.com/ambit-dev/ambit"
)

// mayDecide returns nil where a person holds what a decision takes. Where they do not,
// they are told so in these words.
func (a *Approvals) mayDecide(ctx context.Context, app *ambit.App, person *ambit.Principal, permission, message, hint string) error {
	refused := app.Permits(ctx, person, permission)
	switch {
	case isForbidden(refused):
		return ambit.Errorf(ambit.CodeForbidden, "%s", message).WithHint(hint)
	case refused != nil:
		return a.failed(ctx, refused)
	}
	return nil
}

// maxPages bounds how many pages of the store one page of a list may take.
const maxPages = 20

// permitted returns a page of what a person may decide about, and the cursor of the
// next one, empty at the end. Read returns a page of the store behind a cursor, and
// about what it takes to decide about one of it, and whether it is listed at all.
// The policy is asked once for each permission.
func permitted[E any](ctx context.Context, app *ambit.App, person *ambit.Principal, after string,
	read func(after string) ([]E, string, error), about func(e *E) (permission string, listed bool),
) (list []E, next string, err error) {
	known := map[string]bool{}
	for range maxPages {
		page, cursor, err := read(after)
		if err != nil {
			return nil, "", err
		}
		for i := range page {
			permission, listed := about(&page[i])
			may, asked := known[permission]
			if !asked {
				refused := app.Permits(ctx, person, permission)
				if refused != nil && !isForbidden(refused) {
					return nil, "", refused
				}
				may = refused == nil
				known[permission] = may
			}
			if may && listed {
				list = append(list, page[i])
			}
		}
		if after, next = cursor, cursor; cursor == "" || len(list) > 0 {
			break
		}
	}
	return list, next, nil
}
