package principalkey

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTenant is how many bytes the name of a tenant may have: stores find by it what
// they keep, and none of them may be one that a store cannot keep.
const maxTenant = 255

// TenantFault says after "the tenant" what is wrong with the name of one, or nothing.
func TenantFault(tenant string) string {
	switch {
	case len(tenant) > maxTenant:
		return "has more than 255 bytes"
	case !utf8.ValidString(tenant):
		return "is no UTF-8"
	case strings.ContainsFunc(tenant, unicode.IsControl):
		return "has control characters"
	}
	return ""
}
