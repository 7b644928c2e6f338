package chain

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/store"
)

// head is the last block of a practice at the time of a checkpoint.
type head struct {
	Practice uuid.UUID `json:"practice"`
	Number   int64     `json:"number"`
	Hash     []byte    `json:"hash"`
	At       time.Time `json:"at"` // when it was sealed
}

// checkpoint is a line of a file of checkpoints. It has the practices with blocks since the
// checkpoint before.
type checkpoint struct {
	At        time.Time `json:"at"`
	Block     int64     `json:"block"` // id of the last block of all
	Heads     []head    `json:"heads"`
	Signature []byte    `json:"signature,omitempty"` // of the line without it
}

// message returns what is signed.
func (c checkpoint) message() ([]byte, error) {
	c.Signature = nil
	text, err := json.Marshal(c)
	sum := sha256.Sum256(text)
	return append([]byte("chairside audit checkpoint 1\n"), sum[:]...), err
}

func (c *checkpoint) valid(public audit.PublicKey) bool {
	message, err := c.message()
	return err == nil && public.Verify(message, c.Signature)
}

// Checkpoints appends signed checkpoints to files of a directory, one file a month.
type Checkpoints struct {
	dir  string
	key  *audit.Key
	last int64 // id of the last block of the last checkpoint
}

// OpenCheckpoints creates the directory if it is missing, and continues after its last checkpoint.
func OpenCheckpoints(dir string, key *audit.Key) (*Checkpoints, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: checkpoints: %w", err)
	}
	c := &Checkpoints{dir: dir, key: key}
	err := readCheckpoints(dir, func(_ string, _ int, found *checkpoint) {
		if found.valid(key.Public()) {
			c.last = max(c.last, found.Block)
		}
	})
	return c, err
}

// Write appends a checkpoint if there are new blocks.
func (c *Checkpoints) Write(ctx context.Context, db *store.DB) error {
	heads, last := map[uuid.UUID]head{}, c.last
	err := forEach(ctx, db.SQL, "SELECT id, practice_id, number, hash, at FROM audit_blocks WHERE id > $1 ORDER BY id", func(rows *sql.Rows) error {
		var h head
		err := rows.Scan(&last, &h.Practice, &h.Number, &h.Hash, &h.At)
		h.At = h.At.UTC()
		heads[h.Practice] = h
		return err
	}, c.last)
	if err != nil || len(heads) == 0 {
		return err
	}
	line := checkpoint{At: clock.Now(clock.Refresh(ctx)).UTC(), Block: last}
	for _, h := range heads {
		line.Heads = append(line.Heads, h)
	}
	slices.SortFunc(line.Heads, func(a, b head) int { return bytes.Compare(a.Practice[:], b.Practice[:]) })
	message, err := line.message()
	if err != nil {
		return err
	}
	line.Signature = c.key.Sign(message)
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := appendLine(filepath.Join(c.dir, "audit-"+line.At.Format("2006-01")+".jsonl"), text); err != nil {
		return fmt.Errorf("audit: write a checkpoint: %w", err)
	}
	c.last = last
	return nil
}

// appendLine writes a line in one call, so that lines of several processes do not mix.
func appendLine(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err != nil && n > 0 { // on a full disk: the next line must not continue this one
		if info, failed := f.Stat(); failed == nil {
			err = errors.Join(err, f.Truncate(info.Size()-int64(n)))
		}
	}
	return errors.Join(err, f.Close())
}

// readCheckpoints calls found for every line of every file.
func readCheckpoints(dir string, found func(file string, line int, c *checkpoint)) error {
	entries, err := os.ReadDir(dir) // unlike Glob, it fails for a directory that is missing
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if ours, _ := filepath.Match("audit-*.jsonl", name); !ours {
			continue
		}
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		lines := bufio.NewReader(f)
		for n := 1; ; n++ {
			text, err := lines.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				return errors.Join(err, f.Close())
			}
			if len(text) == 0 {
				break
			}
			c := &checkpoint{}
			if json.Unmarshal(text, c) != nil {
				c = &checkpoint{} // its signature does not fit
			}
			found(name, n, c)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

const (
	// sealEvery is how often entries are sealed.
	sealEvery = time.Second
	// checkpointEvery is how often a checkpoint is written.
	checkpointEvery = time.Minute
	// lastTime bounds the last run, after the server has stopped.
	lastTime = 10 * time.Second
)

// Keep seals entries every second and writes checkpoints every minute until ctx ends, and then
// once more. checkpoints may be nil. Any number of processes may run it. It logs errors and
// continues.
func Keep(ctx context.Context, db *store.DB, checkpoints *Checkpoints, logger *slog.Logger) {
	seals, signs := time.NewTicker(sealEvery), time.NewTicker(checkpointEvery)
	defer seals.Stop()
	defer signs.Stop()
	run := func(ctx context.Context, sign bool) {
		if _, err := Seal(ctx, db); err != nil {
			if ctx.Err() == nil {
				logger.Error("cannot seal the audit log; the next second tries again", "error", err)
			}
			return
		}
		if !sign || checkpoints == nil {
			return
		}
		if err := checkpoints.Write(ctx, db); err != nil && ctx.Err() == nil {
			logger.Error("cannot write a checkpoint of the audit log; the next minute tries again", "error", err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer cancel()
			run(last, true)
			return
		case <-seals.C:
			run(ctx, false)
		case <-signs.C:
			run(ctx, true)
		}
	}
}
