package mcp

import (
	"encoding/base64"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// content appends the content of a result: its text form, and what the
// capability has to show.
func (x *exchange) content(result *ambit.Result) {
	x.out = append(x.out, `"content":[`...)
	if textual(result) {
		x.out = append(x.out, `{"type":"text","text":`...)
		if result.HasText {
			x.out = strictjson.AppendString(x.out, result.Text)
		} else {
			x.out = strictjson.AppendString(x.out, result.Output)
		}
		x.out = append(x.out, '}')
		if len(result.Content) > 0 {
			x.out = append(x.out, ',')
		}
	}
	for i := range result.Content {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		x.out = appendContent(x.out, &result.Content[i])
	}
	x.out = append(x.out, ']')
}

// textual reports whether a result needs its text form. The output's JSON is
// left out beside content that has a text of its own, and where it says nothing.
func textual(result *ambit.Result) bool {
	if result.HasText || len(result.Content) == 0 {
		return true
	}
	for i := range result.Content {
		if result.Content[i].Kind == ambit.TextContent {
			return false
		}
	}
	return string(result.Output) != "{}"
}

func appendContent(dst []byte, c *ambit.Content) []byte {
	switch c.Kind {
	case ambit.TextContent:
		dst = append(dst, `{"type":"text","text":`...)
		dst = strictjson.AppendString(dst, c.Text)
	case ambit.ImageContent:
		dst = appendMedia(dst, "image", c)
	case ambit.AudioContent:
		dst = appendMedia(dst, "audio", c)
	case ambit.ResourceContent:
		dst = append(dst, `{"type":"resource","resource":{"uri":`...)
		dst = strictjson.AppendString(dst, c.URI)
		dst = append(dst, `,"mimeType":`...)
		dst = strictjson.AppendString(dst, c.MIMEType)
		if c.Data != nil {
			dst = append(dst, `,"blob":`...)
			dst = appendBase64(dst, c.Data)
		} else {
			dst = append(dst, `,"text":`...)
			dst = strictjson.AppendString(dst, c.Text)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendMedia(dst []byte, kind string, c *ambit.Content) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","data":`...)
	dst = appendBase64(dst, c.Data)
	dst = append(dst, `,"mimeType":`...)
	return strictjson.AppendString(dst, c.MIMEType)
}

func appendBase64(dst, data []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
