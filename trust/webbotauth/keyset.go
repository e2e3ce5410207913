package webbotauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/messagesig"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// mediaType is that of a directory (draft-ietf-webbotauth-httpsig-protocol).
const mediaType = "application/http-message-signatures-directory+json"

// maxKeys is how many keys a directory may have.
const maxKeys = 20

// keySet is what a fetch has brought.
type keySet struct {
	keys     map[string]Key
	lifetime time.Duration
}

// get fetches the directory.
func (d *directory) get(ctx context.Context) (keySet, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, nil)
	if err != nil {
		return keySet{}, err
	}
	r.Header.Set("Accept", mediaType+", application/jwk-set+json;q=0.9, application/json;q=0.8")
	response, err := d.client.Do(r)
	if err != nil {
		return keySet{}, err
	}
	defer func() { _ = response.Body.Close() }()
	own := r.URL.Path == WellKnown
	if err := acceptable(response, own); err != nil {
		return keySet{}, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return keySet{}, err
	}
	keys, skipped, err := parseKeySet(body, own)
	if err != nil {
		return keySet{}, err
	}
	if d.signedFor != "" {
		if err := keepSigners(keys, response, body, d.signedFor, time.Now()); err != nil {
			return keySet{}, err
		}
	}
	for _, why := range skipped {
		d.log.WarnContext(ctx, "a key of an agent's directory is left out", slog.String("url", d.url), slog.Any("because", why))
	}
	return keySet{keys, lifetimeOf(response.Header)}, nil
}

// acceptable judges status and media type. A key set that is not at the
// directory's own path may have the type of any.
func acceptable(response *http.Response, own bool) error {
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer has the status %d", response.StatusCode)
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && (kind == mediaType || !own && (kind == "application/jwk-set+json" || kind == "application/json")) {
		return nil
	}
	return fmt.Errorf("the answer is of the media type %q", response.Header.Get("Content-Type"))
}

// parseKeySet reads a JWK Set (RFC 7517, section 5). Keys that cannot be used
// here are left out, each with the reason; so is one whose kid, in a directory
// proper, is not its thumbprint.
func parseKeySet(body []byte, own bool) (keys map[string]Key, skipped []error, err error) {
	m, err := membersOf(body)
	if err != nil {
		return nil, nil, errors.New("the answer is not a JSON object")
	}
	var list []json.RawMessage
	if err := strictjson.Unmarshal(m["keys"], &list); err != nil || list == nil {
		return nil, nil, errors.New("the answer is not a JWK Set: it has no list of keys")
	}
	if len(list) > maxKeys {
		return nil, nil, fmt.Errorf("the answer has more than %d keys", maxKeys)
	}
	keys = make(map[string]Key, len(list))
	for _, jwk := range list {
		key, err := ParseKey(jwk)
		if err == nil && own {
			err = kidFault(jwk, key)
		}
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		keys[key.thumbprint] = key
	}
	return keys, skipped, nil
}

func kidFault(jwk []byte, key Key) error {
	m, err := membersOf(jwk)
	if err == nil && m.has("kid") && m.text("kid") != key.thumbprint {
		err = fmt.Errorf("webbotauth: the key %s has another kid", key.thumbprint)
	}
	return err
}

// directoryTag is the tag of the signatures of a directory's response.
const directoryTag = "http-message-signatures-directory"

// keepSigners removes the keys that have not signed the response of their agent
// (draft-ietf-webbotauth-httpsig-protocol, on signing directories): who serves a
// copy could have put them there.
func keepSigners(keys map[string]Key, response *http.Response, body []byte, authority string, now time.Time) error {
	if err := messagesig.CheckDigest(response.Header["Content-Digest"], body); err != nil {
		return err
	}
	signatures, err := messagesig.Parse(response.Header["Signature-Input"], response.Header["Signature"])
	if err != nil {
		return err
	}
	message := &messagesig.Message{
		Status: response.StatusCode, Header: response.Header,
		Request: &messagesig.Message{Method: http.MethodGet, Scheme: "https", Authority: authority},
	}
	for thumbprint, key := range keys {
		signed := false
		for _, s := range signatures {
			signed = signed || signs(s, key, message, now)
		}
		if !signed {
			delete(keys, thumbprint)
		}
	}
	if len(keys) == 0 {
		return errors.New("none of the keys has signed the response")
	}
	return nil
}

// signs reports whether a signature is that of a key over the response of its
// own directory.
func signs(s *messagesig.Signature, key Key, m *messagesig.Message, now time.Time) bool {
	tag, _ := s.Text("tag")
	keyid, _ := s.Text("keyid")
	created, hasCreated := s.Integer("created")
	expires, hasExpires := s.Integer("expires")
	alg, _ := s.Text("alg")
	switch {
	case tag != directoryTag || keyid != key.thumbprint || s.Has("alg") && alg != "ed25519":
		return false
	case !hasCreated || !hasExpires || created > now.Unix() || expires <= created || now.Unix() > expires:
		return false
	case !s.Covers(messagesig.Component{Name: "@authority", Request: true}) || !s.Covers(messagesig.Component{Name: "content-digest"}):
		return false
	}
	base, err := s.Base(m)
	return err == nil && key.verifies(base, s.Value())
}

// lifetimeOf returns how long a response stays fresh (RFC 9111, section 4.2).
func lifetimeOf(header http.Header) time.Duration {
	age, _ := strconv.ParseInt(header.Get("Age"), 10, 32)
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(header["Cache-Control"], ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil {
				return time.Duration(seconds-max(age, 0)) * time.Second
			}
			return 0
		}
	}
	if text := header.Get("Expires"); text != "" {
		date, err := http.ParseTime(header.Get("Date"))
		if err != nil {
			date = time.Now()
		}
		expires, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		return expires.Sub(date)
	}
	return defaultLifetime
}
