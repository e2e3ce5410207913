// Package audit keeps a record of what happened that cannot be altered without
// being found out.
package audit
