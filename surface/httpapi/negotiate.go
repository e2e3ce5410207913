package httpapi

import (
	"mime"
	"strconv"
	"strings"
)

// isJSON judges Content-Type. No charset but UTF-8 exists for JSON (RFC 8259,
// section 8.1), and a charset parameter that says so does no harm.
func isJSON(contentType []string) bool {
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

// acceptsJSON judges Accept (RFC 9110, section 12.5.1): the most specific range
// that JSON falls into decides. No header accepts everything.
func acceptsJSON(accept []string) bool {
	if len(accept) == 0 || len(accept) == 1 && (accept[0] == "application/json" || accept[0] == "*/*") {
		return true
	}
	specific, weight, ranges := 0, 0.0, 0
	for _, value := range accept {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			ranges++
			if s, w := judge(part); s > specific || s == specific && w > weight {
				specific, weight = s, w
			}
		}
	}
	return ranges == 0 || specific > 0 && weight > 0
}

// judge returns how closely a media range describes JSON, zero for not at all,
// and its weight.
func judge(mediaRange string) (specific int, weight float64) {
	mediaType, parameters, _ := strings.Cut(mediaRange, ";")
	switch strings.ToLower(strings.TrimSpace(mediaType)) {
	case "application/json":
		specific = 3
	case "application/*":
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
				return 0, 0
			}
			weight = parsed
		}
	}
	return specific, weight
}
