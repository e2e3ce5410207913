package approval

import "errors"

// ErrNotFound says that there is no such proposal, or grant, for this tenant.
var ErrNotFound = errors.New("approval: there is no such proposal or grant")
