package mcp

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

// accepts judges Accept (RFC 9110, section 12.5.1). Clients have to take both
// forms of an answer; one that names fewer is answered in what it takes, so
// long as that is JSON. No header takes JSON alone: a client that does not say
// that it can read a stream gets none.
func accepts(accept []string) (json, stream bool) {
	switch {
	case len(accept) == 0:
		return true, false
	case len(accept) == 1 && accept[0] == "application/json, text/event-stream":
		return true, true
	}
	var jsonBest, streamBest match
	for _, value := range accept {
		for part := range strings.SplitSeq(value, ",") {
			mediaType, weight := mediaRange(part)
			jsonBest.consider("application/json", mediaType, weight)
			streamBest.consider("text/event-stream", mediaType, weight)
		}
	}
	return jsonBest.weight > 0, streamBest.weight > 0
}

// match is the most specific range so far that a media type falls into.
type match struct {
	specific int
	weight   float64
}

func (m *match) consider(mediaType, mediaRange string, weight float64) {
	specific := 0
	kind, _, _ := strings.Cut(mediaType, "/")
	switch mediaRange {
	case mediaType:
		specific = 3
	case kind + "/*":
		specific = 2
	case "*/*":
		specific = 1
	}
	if specific > m.specific {
		*m = match{specific, weight}
	} else if specific > 0 && specific == m.specific {
		m.weight = max(m.weight, weight)
	}
}

// mediaRange takes one part of Accept apart. A weight that is none is zero.
func mediaRange(part string) (mediaType string, weight float64) {
	mediaType, parameters, _ := strings.Cut(part, ";")
	weight = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(parsed >= 0 && parsed <= 1) {
			parsed = 0
		}
		weight = parsed
	}
	return strings.ToLower(strings.TrimSpace(mediaType)), weight
}
