// Package negotiate judges what a request says of its body and of the answers
// that it takes. It is the one place where Accept and Content-Type are read.
package negotiate

import (
	"mime"
	"strconv"
	"strings"
)

// IsJSON judges the values of Content-Type: exactly one, which says JSON. No
// charset but UTF-8 exists for JSON (RFC 8259, section 8.1), and a charset
// parameter that says so does no harm.
func IsJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	if contentType[0] == "application/json" {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(contentType[0])
	if err != nil || mediaType != "application/json" {
		return false
	}
	for name, value := range parameters {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return false
		}
	}
	return true
}

// Accepts judges the values of Accept (RFC 9110, section 12.5.1): the most
// specific range that the media type falls into decides. A request that names no
// range at all gets the answer silent. The media type is in lower case.
func Accepts(accept []string, mediaType string, silent bool) bool {
	if len(accept) == 1 && accept[0] == mediaType {
		return true
	}
	specific, weight, ranges := 0, 0.0, 0
	for _, value := range accept {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			ranges++
			if s, w := judge(part, mediaType); s > specific || s == specific && w > weight {
				specific, weight = s, w
			}
		}
	}
	if ranges == 0 {
		return silent
	}
	return specific > 0 && weight > 0
}

// judge returns how closely a media range describes the media type, zero for
// not at all, and its weight. A weight that is none is zero.
func judge(mediaRange, mediaType string) (specific int, weight float64) {
	name, parameters, _ := strings.Cut(mediaRange, ";")
	kind, _, _ := strings.Cut(mediaType, "/")
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case mediaType:
		specific = 3
	case kind + "/*":
		specific = 2
	case "*/*":
		specific = 1
	}
	weight = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(parsed >= 0 && parsed <= 1) {
				parsed = 0
			}
			weight = parsed
		}
	}
	return specific, weight
}
