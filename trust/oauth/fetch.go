package oauth

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// get fetches a JSON document of an issuer.
func (a *Authenticator) get(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return a.do(r)
}

// post sends a form to an issuer, as the client that this server is there (RFC
// 6749, section 2.3.1).
func (a *Authenticator) post(ctx context.Context, address string, as Client, form url.Values) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(as.ID), url.QueryEscape(as.Secret))
	return a.do(r)
}

// do sends a request and returns the whole body of an answer that is 200. Its
// errors hold nothing that was sent or answered.
func (a *Authenticator) do(r *http.Request) ([]byte, error) {
	r.Header.Set("Accept", "application/json")
	response, err := a.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", r.URL.Redacted(), response.StatusCode)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL.Redacted(), err)
	}
	return body, nil
}
