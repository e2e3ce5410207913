// Package approval keeps what persons have allowed: proposals that wait for a
// decision, the decisions, and what became of the calls.
package approval
