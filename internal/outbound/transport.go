package outbound

import (
	"io"
	"net/http"
)

// transport holds requests to the rules and answers to their size.
type transport struct {
	options Options
	inner   *http.Transport
}

// RoundTrip checks where the request goes, sends it, and bounds the answer.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.options.Check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	response, err := t.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if response.ContentLength > t.options.Bytes {
		_ = response.Body.Close()
		return nil, ErrTooLarge
	}
	response.Body = &bounded{body: response.Body, left: t.options.Bytes}
	return response, nil
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() { t.inner.CloseIdleConnections() }

// bounded ends with [ErrTooLarge], rather than as if the body were complete.
type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
