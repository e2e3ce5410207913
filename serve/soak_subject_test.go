package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/apikey"
	"github.com/ambit-dev/ambit/trust/idempotency"
)

// soakKeys is how many idempotency keys each client has. They are few, so that
// they are soon used up: a record is kept for a day.
const soakKeys = 4

type soakText struct {
	Text string `json:"text" maxLength:"20000"`
}

type soakSize struct {
	Size int `json:"size" minimum:"0" maximum:"8388608"`
}

type soakData struct {
	Data string `json:"data"`
}

type soakCount struct {
	Count int `json:"count" minimum:"0"`
}

// soakSubject is the application that is soaked, and what is seen of it from
// within.
type soakSubject struct {
	app     *ambit.App
	keys    *apikey.Authenticator
	secrets []string // one for each client

	mu        sync.Mutex
	begun     int                // calls
	ended     int                // calls
	codes     map[ambit.Code]int // of ended calls
	entered   int                // requests
	left      int                // requests
	executed  map[string]int     // times, by client and idempotency key
	surprises []string           // log records that no client should be able to cause
	watched   map[string]chan struct{}
}

func newSoakSubject(t *testing.T) *soakSubject {
	t.Helper()
	s := &soakSubject{codes: map[ambit.Code]int{}, executed: map[string]int{}, watched: map[string]chan struct{}{}}
	var keys []apikey.Key
	for i := range soakClients {
		secret := apikey.Generate()
		s.secrets = append(s.secrets, secret)
		keys = append(keys, apikey.Key{Name: fmt.Sprintf("client%d", i), Secret: secret, Principal: &ambit.Principal{
			Kind: ambit.KindAgent, Permissions: []string{"soak"},
		}})
	}
	var err error
	if s.keys, err = apikey.New(keys...); err != nil {
		t.Fatal(err)
	}
	s.app = ambit.New(ambit.Options{
		Name: "soaked", Logger: slog.New(s), Observers: []ambit.Observer{s}, MaxResult: 32 << 20,
		Ledger: idempotency.NewMemory(idempotency.Options{}),
		Limits: ambit.Limits{Rate: ambit.Rate{Calls: ambit.Unlimited}, InFlight: ambit.Unlimited},
	})
	s.app.Add(s.capabilities()...)
	return s
}

func soakSpec(name string, effect ambit.Effect) ambit.Spec {
	return ambit.Spec{
		Name: "soak." + name, Description: "Soak: " + name + ".", Effect: effect,
		Permission: "soak", Expose: ambit.HTTP | ambit.MCP,
	}
}

func (s *soakSubject) capabilities() []ambit.AnyCapability {
	echo := ambit.NewContract[soakText, soakText](soakSpec("echo", ambit.Read))
	blocks := soakSpec("block", ambit.Read)
	blocks.Deadline = 250 * time.Millisecond
	floods := soakSpec("flood", ambit.Read)
	floods.MaxResult = 16 << 10
	return []ambit.AnyCapability{
		echo.Bind(func(_ context.Context, in soakText) (soakText, error) { return in, nil }),
		ambit.Define(soakSpec("nest", ambit.Read), func(ctx context.Context, in soakText) (soakText, error) { return echo.Call(ctx, in) }),
		ambit.Define(soakSpec("keep", ambit.Write), func(ctx context.Context, in soakText) (soakText, error) {
			call := ambit.FromContext(ctx)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.executed[call.Principal().Subject+" "+call.IdempotencyKey()]++
			return in, nil
		}),
		ambit.Define(soakSpec("report", ambit.Read), func(ctx context.Context, in soakText) (soakText, error) {
			call := ambit.FromContext(ctx)
			for i := range soakReports {
				call.Progress(float64(i+1), soakReports, "step")
			}
			return in, ctx.Err()
		}),
		ambit.Define(soakSpec("send", ambit.Read), func(_ context.Context, in soakSize) (soakData, error) {
			return soakData{Data: strings.Repeat("d", in.Size)}, nil
		}),
		ambit.Define(blocks, func(ctx context.Context, _ soakText) (soakText, error) {
			<-ctx.Done()
			return soakText{}, ctx.Err()
		}),
		ambit.Define(soakSpec("refuse", ambit.Read), func(context.Context, soakText) (soakText, error) {
			return soakText{}, ambit.Errorf(ambit.CodeConflict, "It has changed.").WithDetails(map[string]any{"version": 7})
		}),
		ambit.Define(soakSpec("fail", ambit.Read), func(context.Context, soakText) (soakText, error) {
			return soakText{}, errors.New("the database is gone")
		}),
		ambit.Define(soakSpec("panic", ambit.Read), func(context.Context, soakText) (soakText, error) {
			panic("out of order")
		}),
		ambit.Define(floods, func(context.Context, soakText) (soakData, error) {
			return soakData{Data: strings.Repeat("d", 64<<10)}, nil
		}),
		ambit.Define(soakSpec("break", ambit.Read), func(context.Context, soakText) (soakCount, error) {
			return soakCount{Count: -1}, nil
		}),
	}
}

// Start counts a call that begins.
func (s *soakSubject) Start(ctx context.Context, _ ambit.Event) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return ctx
}

// Finish counts a call that has ended.
func (s *soakSubject) Finish(_ context.Context, e ambit.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	s.codes[e.Code]++
}

// wrap counts requests, and tells who watches one that the server is done with
// it.
func (s *soakSubject) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.entered++
		watched := s.watched[r.Header.Get("X-Request-Id")]
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.left++
			if watched != nil {
				close(watched)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// watch returns a channel that is closed when the server is done with a request.
func (s *soakSubject) watch(request string) (done <-chan struct{}, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	watched := make(chan struct{})
	s.watched[request] = watched
	return watched, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watched, request)
	}
}

// Enabled takes every record of the log.
func (s *soakSubject) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps records that tell of a mistake in the server, such as those of
// net/http.
func (s *soakSubject) Handle(_ context.Context, r slog.Record) error {
	switch r.Message {
	case "panic in the application", "call failed", "credential refused":
		return nil
	}
	if r.Level < slog.LevelWarn || strings.HasPrefix(r.Message, "idempotency") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.surprises) < 10 {
		text := r.Message
		r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
		s.surprises = append(s.surprises, text)
	}
	return nil
}

// WithAttrs changes nothing.
func (s *soakSubject) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup changes nothing.
func (s *soakSubject) WithGroup(string) slog.Handler { return s }

// String returns what the application has seen.
func (s *soakSubject) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "requests handled: %d, calls: %d, by code:", s.left, s.ended)
	for _, code := range slices.Sorted(maps.Keys(s.codes)) {
		name := string(code)
		if name == "" {
			name = "ok"
		}
		fmt.Fprintf(&b, " %s %d", name, s.codes[code])
	}
	return b.String()
}

// check fails the test unless everything that began has ended, in every way in
// which a call can end here, and what was to happen once did.
func (s *soakSubject) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entered != s.left || s.begun != s.ended {
		t.Errorf("want as many ends as beginnings, got %d and %d of requests, %d and %d of calls", s.entered, s.left, s.begun, s.ended)
	}
	for _, code := range []ambit.Code{
		"", ambit.CodeInvalidInput, ambit.CodeConflict, ambit.CodeUpstream, ambit.CodeInternal, ambit.CodeInvalidOutput,
		ambit.CodeResultTooLarge, ambit.CodeCanceled, ambit.CodeDeadlineExceeded,
	} {
		if s.codes[code] == 0 {
			t.Errorf("calls that end with code %q: want some, got none", code)
		}
	}
	for key, times := range s.executed {
		if times != 1 {
			t.Errorf("work under the key %q: want it done once, got %d times", key, times)
		}
	}
	if len(s.watched) > 0 {
		t.Errorf("requests still watched: want none, got %d", len(s.watched))
	}
	for _, surprise := range s.surprises {
		t.Errorf("log: want nothing of the kind, got %q", surprise)
	}
}
