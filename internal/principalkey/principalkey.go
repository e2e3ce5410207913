// Package principalkey is the form of the key of a principal, see
// [ambit.Principal.Key]. It takes keys apart for those who show them to people or look
// for one person in several tenants.
package principalkey

import (
	"strconv"
	"strings"
)

// Of returns the key of what has these parts.
func Of(tenant, authority, subject string) string {
	var b strings.Builder
	b.Grow(len(tenant) + len(authority) + len(subject) + 12)
	for _, part := range [...]string{tenant, authority} {
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteByte(':')
		b.WriteString(part)
		b.WriteByte('/')
	}
	b.WriteString(subject)
	return b.String()
}

// WithoutTenant takes the tenant off a key. What is no key stays as it is.
func WithoutTenant(key string) string {
	if _, rest, ok := part(key); ok {
		return rest
	}
	return key
}

// Name returns the subject of a key and, in brackets, its authority, or "anonymous"
// where it has neither. What is no key stays as it is.
func Name(key string) string {
	_, rest, ok := part(key)
	if !ok {
		return key
	}
	authority, subject, ok := part(rest)
	switch {
	case !ok:
		return key
	case authority == "" && subject == "":
		return "anonymous"
	}
	return subject + " (" + authority + ")"
}

// Split returns the parts of a key. Ok is false for what is no key, or is written in
// another way than keys are.
func Split(key string) (tenant, authority, subject string, ok bool) {
	tenant, rest, ok := part(key)
	if ok {
		authority, subject, ok = part(rest)
	}
	return tenant, authority, subject, ok && key == Of(tenant, authority, subject)
}

// part returns the first of the parts that have their length in front, and what
// follows it.
func part(key string) (first, rest string, ok bool) {
	digits, rest, ok := strings.Cut(key, ":")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= len(rest) || rest[n] != '/' {
		return "", "", false
	}
	return rest[:n], rest[n+1:], true
}
