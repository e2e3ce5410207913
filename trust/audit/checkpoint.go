package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// Checkpoint says how far a chain had come at a time. It is signed with Ed25519
// (RFC 8032) under a key derived from the key ring, and kept outside of the
// store, so that a chain which is shorter or another one by then is found out.
type Checkpoint struct {
	// Tenant and Writer name the chain.
	Tenant string `json:"tenant"`
	Writer string `json:"writer"`
	// Seq and MAC are those of its last entry.
	Seq uint64 `json:"seq"`
	MAC []byte `json:"mac"`
	// Time is when it was signed.
	Time time.Time `json:"time"`
	// Signature covers all of the above.
	Signature []byte `json:"signature"`
}

// Signed reports whether the checkpoint was signed by the log that has this
// public key.
func (c Checkpoint) Signed(public ed25519.PublicKey) bool {
	return len(public) == ed25519.PublicKeySize && ed25519.Verify(public, c.text(), c.Signature)
}

func (c Checkpoint) text() []byte {
	return signedText("ambit/audit/checkpoint/1", c.Tenant, c.Writer, c.Seq, c.MAC, c.Time)
}

func (c Cut) text() []byte {
	return signedText("ambit/audit/cut/1", c.Tenant, c.Writer, c.Seq, c.MAC, c.Time)
}

// Sink takes checkpoints to a place that whoever can write to the store cannot
// write to: another machine, a service that only appends, a file of another user.
type Sink interface {
	// Keep takes one checkpoint. It is called by one goroutine at a time and has
	// five seconds, after which nobody waits for it: until it returns no other
	// checkpoint is kept, and the record goes on. After an error the head is signed
	// and given again later.
	Keep(ctx context.Context, c Checkpoint) error
}

// Source is a [Sink] that can be asked for what it took. The command "audit
// verify" asks it.
type Source interface {
	// Checkpoints returns all of them, oldest first.
	Checkpoints(ctx context.Context) ([]Checkpoint, error)
}

// CheckpointFile returns a [Sink] and [Source] that appends each checkpoint to a
// file as a line of JSON, and makes the file, for its owner alone, where there is
// none. It must be somewhere else than the store, such as on a volume that is
// backed up by itself. Several processes may append to one file.
func CheckpointFile(path string) *FileSink { return &FileSink{path: path} }

// FileSink is what [CheckpointFile] returns. It is safe for concurrent use.
type FileSink struct {
	path string
	mu   sync.Mutex
}

// Keep appends a checkpoint and returns when it is on disk.
func (f *FileSink) Keep(_ context.Context, c Checkpoint) (err error) {
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("audit: checkpoints: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("audit: checkpoints: %w", err)
	}
	return file.Sync()
}

// Checkpoints reads the file. One that does not exist has none.
func (f *FileSink) Checkpoints(context.Context) ([]Checkpoint, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit: checkpoints: %w", err)
	}
	defer func() { _ = file.Close() }()
	return ReadCheckpoints(file)
}

// maxCheckpoint is how long a line of a file of checkpoints may be.
const maxCheckpoint = 64 << 10

// ReadCheckpoints reads checkpoints that stand one in a line, as [CheckpointFile]
// writes them. Blank lines are passed over, and so is a last line without an end,
// which is being written or was when the machine stopped; any other line that is
// no checkpoint is an error. Signatures are not looked at.
func ReadCheckpoints(r io.Reader) ([]Checkpoint, error) {
	var list []Checkpoint
	lines := bufio.NewReaderSize(r, maxCheckpoint)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("audit: line %d of the checkpoints: %w", number, err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		var c Checkpoint
		if err := json.Unmarshal(line, &c); err != nil || c.Writer == "" || c.Seq == 0 {
			return nil, fmt.Errorf("audit: line %d of the checkpoints is none: it was altered, or torn when the machine stopped", number)
		}
		list = append(list, c)
	}
}

// mark signs the heads of the chains that have grown since their last checkpoint,
// unless that is younger than every.
func (l *Log) mark(ctx context.Context, every time.Duration) {
	if l.options.Checkpoints == nil || l.stuck() {
		return
	}
	l.mu.RLock()
	chains := slices.Collect(maps.Values(l.chains))
	l.mu.RUnlock()
	for _, c := range chains {
		if time.Since(c.marked.Time) < every || l.stuck() {
			continue
		}
		if err := l.markChain(ctx, c); err != nil {
			l.logger.ErrorContext(ctx, "a checkpoint of the audit record was not kept", slog.String("tenant", c.tenant), slog.Any("cause", err))
		}
	}
}

func (l *Log) markChain(ctx context.Context, c *chain) (err error) {
	defer contain(&err)
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	select {
	case <-c.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	mark := Checkpoint{Tenant: c.tenant, Writer: c.writer, Seq: c.seq, MAC: c.mac, Time: time.Now().UTC().Truncate(time.Microsecond)}
	c.turn <- struct{}{}
	if mark.Seq == 0 || mark.Writer == c.marked.Writer && mark.Seq == c.marked.Seq {
		return nil
	}
	mark.Signature = ed25519.Sign(l.signer, mark.text())
	if err := l.keepMark(ctx, mark); err != nil {
		return err
	}
	c.marked = mark
	return nil
}

// keepMark gives a checkpoint to the sink and waits for it no longer than ctx lasts.
// A sink that pays no heed to that, such as a file on a volume that does not answer,
// keeps a goroutine, and nobody else.
func (l *Log) keepMark(ctx context.Context, mark Checkpoint) error {
	kept := make(chan error, 1)
	go func() {
		var err error
		defer func() { kept <- err }()
		defer contain(&err)
		err = l.options.Checkpoints.Keep(ctx, mark)
	}()
	select {
	case err := <-kept:
		return err
	case <-ctx.Done():
		l.keeping = kept
		return fmt.Errorf("audit: the sink of checkpoints does not answer, and none is kept until it does: %w", ctx.Err())
	}
}

// stuck reports whether the sink is still at work on an earlier checkpoint.
func (l *Log) stuck() bool {
	select {
	case <-l.keeping:
		l.keeping = nil
	default:
	}
	return l.keeping != nil
}
