package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// discovered is how long what an issuer's metadata says is held for true, unless
// what it led to fails.
const discovered = time.Hour

// endpoints are what of an issuer's metadata (RFC 8414, section 2) is used here.
type endpoints struct{ issuer, keys, introspection, token string }

// discovery finds an issuer's endpoints when they are first needed: once for all
// who wait.
type discovery struct {
	auth   *Authenticator
	issuer string

	mu     sync.Mutex
	found  endpoints
	at     time.Time     // when they were found; zero: to be fetched
	flight chan struct{} // closed when the fetch under way has ended; nil: none
	ended  time.Time     // when the last fetch ended
	err    error         // how it ended
}

// find returns the endpoints. Those that were found before are kept where the
// metadata cannot be fetched anew.
func (d *discovery) find(ctx context.Context) (endpoints, error) {
	if err := wait(ctx, d.fetch(time.Now())); err != nil {
		return endpoints{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.found.issuer != "":
		return d.found, nil
	case d.err != nil:
		return endpoints{}, d.err
	}
	return endpoints{}, errClosed
}

// fetch begins a fetch where it is time for one. It returns what closes at the end
// of the one under way.
func (d *discovery) fetch(now time.Time) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := !d.at.IsZero() && now.Sub(d.at) < discovered
	if fresh || d.flight != nil || d.err != nil && now.Sub(d.ended) < retryAfter {
		return d.flight
	}
	flight := make(chan struct{})
	if !d.auth.start(func(ctx context.Context) {
		found, err := d.load(ctx)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ended, d.err, d.flight = time.Now(), err, nil
		if err == nil {
			d.found, d.at = found, d.ended
		}
		close(flight)
	}) {
		return nil
	}
	d.flight = flight
	return flight
}

// load fetches the metadata from where the issuer has it.
func (d *discovery) load(ctx context.Context) (endpoints, error) {
	var faults []error
	for _, address := range metadataURLs(d.issuer) {
		body, err := d.auth.get(ctx, address)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		found, err := readMetadata(body, d.issuer)
		if err != nil {
			return endpoints{}, fmt.Errorf("%s: %w", address, err)
		}
		return found, nil
	}
	return endpoints{}, errors.Join(faults...)
}

// forget has the metadata fetched anew, because what it led to failed.
func (d *discovery) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = time.Time{}
}

// metadataURLs are where an issuer may publish its metadata: by RFC 8414, section
// 3.1, and by OpenID Connect Discovery 1.0, section 4, in its two readings.
func metadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	list := []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + path + "/.well-known/openid-configuration",
	}
	if path != "" {
		list = append(list, origin+"/.well-known/openid-configuration"+path)
	}
	return list
}

// readMetadata reads metadata and checks whose it is (RFC 8414, section 3.3).
func readMetadata(body []byte, issuer string) (endpoints, error) {
	members, err := object(body)
	if err != nil {
		return endpoints{}, err
	}
	found := endpoints{
		issuer:        text(members, "issuer"),
		keys:          text(members, "jwks_uri"),
		introspection: text(members, "introspection_endpoint"),
		token:         text(members, "token_endpoint"),
	}
	if found.issuer != issuer {
		return endpoints{}, fmt.Errorf("the metadata is of the issuer %q and not of %q", found.issuer, issuer)
	}
	return found, nil
}

// object reads a JSON object.
func object(body []byte) (map[string]any, error) {
	var value any // which is read faster than a map
	if err := strictjson.Unmarshal(body, &value); err == nil {
		if members, ok := value.(map[string]any); ok {
			return members, nil
		}
	}
	return nil, errors.New("the answer is no JSON object")
}

// text returns a member that is a string, and "" for any other.
func text(members map[string]any, name string) string {
	value, _ := members[name].(string)
	return value
}
