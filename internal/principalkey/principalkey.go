// Package principalkey takes the key of a principal apart, see [ambit.Principal.Key],
// for those who show it to people or look for one person in several tenants.
package principalkey

import (
	"fmt"
	"strconv"
	"strings"
)

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
	return tenant, authority, subject, ok && key == fmt.Sprintf("%d:%s/%d:%s/%s", len(tenant), tenant, len(authority), authority, subject)
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
