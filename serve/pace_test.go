package serve

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// line is a connection on the clock of the test: one byte comes in every while,
// unless the deadline comes first.
type line struct {
	*httptest.ResponseRecorder
	every    time.Duration
	bytes    int
	deadline time.Time
}

func (l *line) SetReadDeadline(deadline time.Time) error {
	l.deadline = deadline
	return nil
}

func (l *line) Read(p []byte) (int, error) {
	if left := time.Until(l.deadline); left < l.every {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(l.every)
	if l.bytes--; l.bytes == 0 {
		return 1, io.EOF
	}
	return 1, nil
}

func (l *line) Close() error { return nil }

// TestT27_BodyRate sends bodies byte by byte at a rate of ten a second, after
// which two seconds of stalling are left.
func TestT27_BodyRate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		every      time.Duration
		pause      time.Duration // of the handler, between two reads
		bytes      int
		want       int
		wantFailed bool
	}{
		{"faster than it must", 50 * time.Millisecond, 0, 500, 500, false},
		{"just as fast", 100 * time.Millisecond, 0, 500, 500, false},
		{"a little too slow", 110 * time.Millisecond, 0, 500, 190, true},
		{"half as fast", 200 * time.Millisecond, 0, 500, 19, true},
		{"half as fast, but soon done", 200 * time.Millisecond, 0, 15, 15, false},
		{"silent", time.Hour, 0, 500, 0, true},
		{"a slow handler", 100 * time.Millisecond, time.Minute, 100, 100, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := &line{ResponseRecorder: httptest.NewRecorder(), every: tt.every, bytes: tt.bytes}
				limits, err := Limits{Stall: 2 * time.Second, Rate: 10}.complete()
				if err != nil {
					t.Fatal(err)
				}
				got := 0
				limits.paceBodies(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					for err == nil {
						var n int
						n, err = r.Body.Read(make([]byte, 16))
						got += n
						time.Sleep(tt.pause)
					}
				})).ServeHTTP(client, &http.Request{Body: client, ContentLength: int64(tt.bytes)})
				if failed := errors.Is(err, os.ErrDeadlineExceeded); failed != tt.wantFailed || got != tt.want {
					t.Errorf("want %d bytes, failed %v; got %d, %v", tt.want, tt.wantFailed, got, err)
				}
				if !tt.wantFailed && !client.deadline.IsZero() {
					t.Errorf("deadline after the body: want none, got %v", client.deadline)
				}
			})
		})
	}
}
