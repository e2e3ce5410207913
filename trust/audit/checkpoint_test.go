package audit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust/audit"
)

// A file takes checkpoints in lines, and gives back the same.
func TestCheckpointFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "checkpoints")
	file := audit.CheckpointFile(path)
	if got, err := file.Checkpoints(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("want no checkpoints of a file that is not there, got %v, %v", got, err)
	}
	var want []audit.Checkpoint
	for i := range 3 {
		c := audit.Checkpoint{
			Tenant: "acme", Writer: fmt.Sprint("W", i), Seq: uint64(i + 1), MAC: []byte{1}, Signature: []byte{2},
			Time: time.Date(2026, 12, 1, 4, 5, 6, 7000, time.UTC),
		}
		if err := file.Keep(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		want = append(want, c)
	}
	got, err := audit.CheckpointFile(path).Checkpoints(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want a file for its owner alone, got %v, %v", info.Mode(), err)
	}
}

// A line that is no checkpoint is not passed over, but for one that is being
// written.
func TestReadCheckpoints(t *testing.T) {
	t.Parallel()
	const line = `{"tenant":"","writer":"W","seq":1,"mac":"AQ==","time":"2026-12-01T04:05:06Z","signature":"AQ=="}`
	for _, test := range []struct {
		name, text, failure string
		want                int
	}{
		{"two, and one that is not finished", line + "\n\n" + line + "\n" + line[:20], "", 2},
		{"a broken one", line + "\n" + line[:20] + "\n", "audit: line 2 of the checkpoints is none: it was altered, or torn when the machine stopped", 0},
		{"one of no entry", strings.Replace(line, `"seq":1`, `"seq":0`, 1) + "\n", "audit: line 1 of the checkpoints is none: it was altered, or torn when the machine stopped", 0},
		{"an endless one", strings.Repeat(" ", 1<<20), "audit: line 1 of the checkpoints: bufio: buffer full", 0},
	} {
		got, err := audit.ReadCheckpoints(strings.NewReader(test.text))
		failure := ""
		if err != nil {
			failure = err.Error()
		}
		if failure != test.failure || len(got) != test.want {
			t.Errorf("%s: want %d and %q, got %d and %q", test.name, test.want, test.failure, len(got), failure)
		}
	}
}

// failingSink refuses as many checkpoints as it is told to.
type failingSink struct {
	sink
	refusals int
}

func (f *failingSink) Keep(ctx context.Context, c audit.Checkpoint) error {
	if f.refusals > 0 {
		f.refusals--
		return errors.New("the other machine is away")
	}
	return f.sink.Keep(ctx, c)
}

// The head of a chain that grows is signed at intervals and at the end; a chain
// that does not grow is left alone, and one that nobody took is signed again.
func TestT22_CheckpointsAtIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &failingSink{refusals: 1}
		log := newLog(t, memoryStore(), func(o *audit.Options) {
			o.Checkpoints, o.CheckpointEvery, o.Logger = kept, time.Minute, slog.New(slog.DiscardHandler)
		})
		seqs := func() (seqs []uint64) {
			list, _ := kept.Checkpoints(t.Context())
			for _, c := range list {
				if !c.Signed(log.PublicKey()) {
					t.Errorf("not signed: %+v", c)
				}
				seqs = append(seqs, c.Seq)
			}
			return seqs
		}
		one := func() {
			if err := call(t.Context(), log, eventOf(ambit.Execute), ambit.Digest{}, `{}`, succeed); err != nil {
				t.Fatal(err)
			}
		}
		one()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]uint64{2}, seqs()); diff != "" {
			t.Errorf("after ten minutes (-want +got):\n%s", diff)
		}
		for range 4 {
			one()
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		if got := seqs(); len(got) != 3 {
			t.Errorf("want a checkpoint a minute, got %v", got)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if got := seqs(); got[len(got)-1] != 10 {
			t.Errorf("want the end signed, got %v", got)
		}
	})
}

// hanging is a sink that pays no heed to its context.
type hanging struct {
	sink
	answers chan struct{} // closed: it does
}

func (h *hanging) Keep(ctx context.Context, c audit.Checkpoint) error {
	<-h.answers
	return h.sink.Keep(ctx, c)
}

// A sink that hangs holds up no call and no end of the log, is told once, and gets
// the next checkpoint when it answers again.
func TestT22_ASinkThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		to, store := &hanging{answers: make(chan struct{})}, memoryStore()
		var said strings.Builder
		log := newLog(t, store, func(o *audit.Options) {
			o.Checkpoints, o.CheckpointEvery, o.Queue = to, time.Second, 16
			o.Logger = slog.New(slog.NewTextHandler(&said, nil))
		})
		for range 40 {
			time.Sleep(time.Second)
			if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err != nil {
				t.Fatal(err)
			}
		}
		flush(t, log)
		if got := strings.Count(said.String(), "does not answer"); got != 1 {
			t.Errorf("want the operator told once, got %d times:\n%s", got, said.String())
		}
		close(to.answers)
		time.Sleep(time.Second)
		synctest.Wait()
		if kept, _ := to.Checkpoints(t.Context()); len(kept) < 2 || kept[len(kept)-1].Seq != 40 {
			t.Errorf("want the head kept as soon as the sink answers, got %+v", kept)
		}
		to.answers = make(chan struct{})
		if err := call(t.Context(), log, eventOf(ambit.Write), ambit.Digest{}, `{}`, succeed); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > audit.DefaultCloseWithin {
			t.Errorf("want it closed within %s, took %s", audit.DefaultCloseWithin, took)
		}
		close(to.answers)
	})
}
