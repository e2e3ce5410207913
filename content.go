package ambit

// ContentKind says what a [Content] holds.
type ContentKind uint8

// The kinds of content.
const (
	// TextContent is plain text in Content.Text.
	TextContent ContentKind = iota + 1
	// ImageContent is a picture in Content.Data.
	ImageContent
	// AudioContent is sound in Content.Data.
	AudioContent
	// ResourceContent is a document with an address: text or bytes.
	ResourceContent
)

// Content is one piece of a result that is not plain data: what a capability's
// WithContent function returns for surfaces that can show it. A surface that
// cannot (HTTP, in-process) gives the structured output alone.
type Content struct {
	// Kind is required.
	Kind ContentKind
	// Text is the text of TextContent, or of ResourceContent without Data.
	Text string
	// Data is the bytes of an image, a sound or a binary resource.
	Data []byte
	// MIMEType is required for images, audio and resources.
	MIMEType string
	// URI is the address of ResourceContent.
	URI string
}

// fault says what is wrong with the content, or nothing.
func (c Content) fault() string {
	switch c.Kind {
	case TextContent:
		return ""
	case ImageContent, AudioContent:
		if len(c.Data) == 0 || c.MIMEType == "" {
			return "image and audio content need Data and MIMEType"
		}
	case ResourceContent:
		if c.URI == "" || c.MIMEType == "" {
			return "resource content needs URI and MIMEType"
		}
	default:
		return "content has no kind"
	}
	return ""
}

// size is what the content adds to a result, before any encoding.
func (c Content) size() int { return len(c.Text) + len(c.Data) + len(c.MIMEType) + len(c.URI) }
