package approval

import (
	"bytes"
	"context"
	"crypto/hmac"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-dev/ambit/internal/outbound"
)

// The headers of a webhook's request.
const (
	// SignatureHeader holds when the request was signed and one signature for
	// each secret, as in "t=1790000000,v1=HEX,v1=HEX": the HMAC-SHA256 (RFC 2104)
	// of the decimal seconds, a dot, and the body.
	SignatureHeader = "Ambit-Signature"
	// DeliveryHeader names the notice; every attempt to deliver it has the same.
	DeliveryHeader = "Ambit-Delivery"
)

// MinWebhookSecret is the fewest bytes that a secret of a webhook may have.
const MinWebhookSecret = 32

// What a webhook does between a first and a last attempt.
const (
	webhookAttempts = 6
	webhookPause    = time.Second      // before the second attempt; it doubles
	webhookLongest  = 30 * time.Second // that a receiver may ask to wait
)

// WebhookOptions say where notices go.
type WebhookOptions struct {
	// URL is where each notice is posted, as JSON. It is https. Required.
	URL string
	// Secrets sign the requests, each at least 32 bytes. A second one is for the
	// time in which the receiver changes from one to the other. Required.
	Secrets [][]byte
	// Networks are networks where URL may lead although they are not public, as
	// where the receiver stands in the same private network. Empty: none.
	Networks []netip.Prefix
	// Loopback lets URL lead to this machine, and without TLS, for development.
	Loopback bool
}

// Webhook is a [Notifier] that posts each notice as JSON, signed, and tries again
// until the receiver answers with a status of 200 to 299: six times within about
// half a minute. It gives up at once on a status that repeating cannot mend: 300
// to 499 but 408, 425 and 429. Make one with [NewWebhook].
type Webhook struct {
	url     string
	secrets [][]byte
	client  *http.Client
	pause   func(ctx context.Context, d time.Duration) error
}

// NewWebhook checks the options. It connects to nothing.
func NewWebhook(o WebhookOptions) (*Webhook, error) {
	u, err := url.Parse(o.URL)
	if o.URL == "" || err != nil {
		return nil, errors.New("approval: WebhookOptions.URL is missing or not a URL: give the https address that notices are posted to")
	}
	reach := outbound.Options{Networks: o.Networks, Loopback: o.Loopback}
	if port := outbound.PortOf(u); port != 0 {
		reach.Ports = []int{port}
	}
	if err := reach.Check(u); err != nil {
		return nil, fmt.Errorf("approval: WebhookOptions.URL: %w", err)
	}
	if len(o.Secrets) == 0 {
		return nil, errors.New("approval: WebhookOptions.Secrets is missing: the receiver could not tell a notice from anything else")
	}
	w := &Webhook{url: u.String(), client: outbound.New(reach), pause: wait}
	for i, secret := range o.Secrets {
		if len(secret) < MinWebhookSecret {
			return nil, fmt.Errorf("approval: WebhookOptions.Secrets: secret %d has %d bytes: it needs at least %d random ones", i+1, len(secret), MinWebhookSecret)
		}
		w.secrets = append(w.secrets, slices.Clone(secret))
	}
	return w, nil
}

// Notify posts the notice until it is taken or given up.
func (w *Webhook) Notify(ctx context.Context, n Notice) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	delivery, pause := cryptorand.Text(), webhookPause
	for attempt := 1; ; attempt++ {
		again, asked, err := w.post(ctx, delivery, body)
		if err == nil {
			return nil
		}
		if !again || attempt == webhookAttempts {
			return fmt.Errorf("webhook, attempt %d: %w", attempt, err)
		}
		if err := w.pause(ctx, max(jittered(pause), min(asked, webhookLongest))); err != nil {
			return err
		}
		pause *= 2
	}
}

// post makes one attempt and says whether another may help, and how long the
// receiver wants to be left alone.
func (w *Webhook) post(ctx context.Context, delivery string, body []byte) (again bool, asked time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(DeliveryHeader, delivery)
	r.Header.Set(SignatureHeader, w.sign(time.Now(), body))
	response, err := w.client.Do(r)
	if response != nil && err != nil { // a redirect, which is not followed
		return false, 0, fmt.Errorf("the receiver answered %d", response.StatusCode)
	}
	if err != nil {
		return ctx.Err() == nil, 0, err
	}
	_, _ = io.Copy(io.Discard, response.Body) // what it says does not matter
	_ = response.Body.Close()
	status := response.StatusCode
	if status >= 200 && status < 300 {
		return false, 0, nil
	}
	if seconds, failed := strconv.Atoi(response.Header.Get("Retry-After")); failed == nil && seconds > 0 {
		asked = time.Duration(min(seconds, int(webhookLongest/time.Second))) * time.Second
	}
	again = status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
	return again, asked, fmt.Errorf("the receiver answered %d", status)
}

// sign returns the value of SignatureHeader.
func (w *Webhook) sign(at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	var header strings.Builder
	header.WriteString("t=" + seconds)
	for _, secret := range w.secrets {
		code := hmac.New(sha256.New, secret)
		code.Write([]byte(seconds + "."))
		code.Write(body)
		header.WriteString(",v1=" + hex.EncodeToString(code.Sum(nil)))
	}
	return header.String()
}

// jittered returns between three and five quarters of d, so that what failed
// together is not tried again together.
func jittered(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
