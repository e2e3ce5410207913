package postgres_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ambit-dev/ambit/store/postgres"
)

// What is about to be committed goes on for as long as somebody waits, however slow
// the database is, and for a while when nobody does.
func TestInsistent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		waits, want time.Duration
	}{
		{"nobody waits", 0, postgres.Patience},
		{"somebody waits for a moment", time.Second, postgres.Patience},
		{"somebody waits for long", time.Hour, time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), test.waits)
			defer cancel()
			began := time.Now()
			lasting, end := postgres.Insistent(ctx)
			defer end()
			<-lasting.Done()
			if got := time.Since(began); got != test.want {
				t.Errorf("%s: want it to last for %s, got %s", test.name, test.want, got)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		lasting, end := postgres.Insistent(t.Context())
		end()
		if lasting.Err() == nil {
			t.Error("want it ended")
		}
	})
}
