package webbotauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/messagesig"
)

// DefaultMaxAge is how long caches may keep a directory unless
// [DirectoryOptions.MaxAge] says otherwise.
const DefaultMaxAge = time.Hour

// DirectoryOptions say what an agent publishes.
type DirectoryOptions struct {
	// Keys are the keys that verify the agent's signatures, the next one during
	// a rotation included. Required, at most 20.
	Keys []Key
	// URL is where the directory can be fetched, as in "https://agent.example.com",
	// which stands for [WellKnown] there. It is needed for Sign alone, and has to
	// be that path then, since the signature names the host and nothing else.
	URL string
	// Sign are private keys of Keys, at most four, which sign the answer, so
	// that those who serve copies of it cannot change it. Empty: it is not
	// signed.
	Sign []PrivateKey
	// MaxAge is how long caches may keep it; a key that is taken back is
	// believed for as long. Zero: 1 h.
	MaxAge time.Duration
}

// DirectoryHandler returns the handler that publishes an agent's keys, to be
// mounted at [WellKnown], before anything that wants a credential. It answers GET
// and HEAD, and scripts of any page may read the answer. It is safe for
// concurrent use.
func DirectoryHandler(o DirectoryOptions) (http.Handler, error) {
	if len(o.Keys) == 0 || len(o.Keys) > maxKeys {
		return nil, fmt.Errorf("webbotauth: DirectoryOptions.Keys holds %d keys: give 1 to %d", len(o.Keys), maxKeys)
	}
	if o.MaxAge < 0 {
		return nil, errors.New("webbotauth: DirectoryOptions.MaxAge is negative: leave it zero for the default")
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	body, err := json.Marshal(struct {
		Keys []Key `json:"keys"`
	}{o.Keys})
	if err != nil {
		return nil, err
	}
	h := &publisher{body: body, digest: messagesig.Digest(body), signers: o.Sign, maxAge: o.MaxAge, now: time.Now}
	h.etag = `"` + strings.Trim(strings.TrimPrefix(h.digest, "sha-256="), ":") + `"`
	return h, h.signFor(o)
}

// signFor checks who signs, and for which host.
func (h *publisher) signFor(o DirectoryOptions) error {
	if len(o.Sign) == 0 {
		return nil
	}
	identity, ok := identify(o.URL, false)
	if !ok || !proper(identity) {
		return fmt.Errorf("webbotauth: DirectoryOptions.URL is %q: give the https origin whose directory is to be signed", o.URL)
	}
	h.authority, _, _ = strings.Cut(strings.TrimPrefix(identity, "https://"), "/")
	if len(o.Sign) > messagesig.MaxSignatures {
		return fmt.Errorf("webbotauth: DirectoryOptions.Sign holds more than %d keys", messagesig.MaxSignatures)
	}
	for _, signer := range o.Sign {
		published := false
		for _, key := range o.Keys {
			published = published || key.thumbprint == signer.public.thumbprint
		}
		if signer.private == nil || !published {
			return errors.New("webbotauth: DirectoryOptions.Sign holds a key that is not one of Keys")
		}
	}
	return nil
}

// publisher answers with one prepared body.
type publisher struct {
	body         []byte
	digest, etag string
	signers      []PrivateKey
	authority    string
	maxAge       time.Duration
	now          func() time.Time
}

func (h *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header.Set("Content-Type", mediaType)
	header.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(h.maxAge/time.Second)))
	header.Set("ETag", h.etag)
	header.Set("Content-Digest", h.digest)
	header.Set("X-Content-Type-Options", "nosniff")
	if len(h.signers) > 0 && !h.sign(header) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.body))
}

// sign adds a signature by each key. It lasts as long as the answer may be kept,
// and a minute for clocks that differ.
func (h *publisher) sign(header http.Header) bool {
	now := h.now()
	message := &messagesig.Message{
		Status: http.StatusOK, Header: header,
		Request: &messagesig.Message{Method: http.MethodGet, Scheme: "https", Authority: h.authority},
	}
	var inputs, values []string
	for i, key := range h.signers {
		input, value, err := messagesig.Sign(message, "binding"+strconv.Itoa(i),
			[]messagesig.Component{{Name: "@authority", Request: true}, {Name: "content-digest"}},
			messagesig.Params{Created: now, Expires: now.Add(h.maxAge + time.Minute), KeyID: key.public.thumbprint, Alg: "ed25519", Tag: directoryTag}, key.sign)
		if err != nil {
			return false // cannot be: all that is covered is there
		}
		inputs, values = append(inputs, input), append(values, value)
	}
	header.Set("Signature-Input", strings.Join(inputs, ", "))
	header.Set("Signature", strings.Join(values, ", "))
	return true
}
