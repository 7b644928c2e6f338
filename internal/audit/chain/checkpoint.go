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
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"chairside/internal/audit"
	"chairside/internal/clock"
	"chairside/internal/durable"
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
// checkpoints before.
type checkpoint struct {
	At    time.Time `json:"at"`
	Heads []head    `json:"heads"`
	// Previous are the hashes of the lines that no line before this one names: of the last line, or
	// of several that were written at once. So a line cannot be removed unnoticed, except from the end.
	Previous  [][]byte `json:"previous"`
	Signature []byte   `json:"signature,omitempty"` // of the line without it
}

// message returns what is signed.
func (c checkpoint) message() ([]byte, error) {
	c.Signature = nil
	text, err := json.Marshal(c)
	sum := sha256.Sum256(text)
	return append([]byte("chairside audit checkpoint 1\n"), sum[:]...), err
}

// valid reports whether one of the keys signed the line.
func (c *checkpoint) valid(public ...audit.PublicKey) bool {
	message, err := c.message()
	return err == nil && signed(public, message, c.Signature)
}

// signed reports whether one of the keys signed a message.
func signed(public []audit.PublicKey, message, signature []byte) bool {
	return slices.ContainsFunc(public, func(k audit.PublicKey) bool { return k.Verify(message, signature) })
}

// ErrRewound means that the database lacks blocks that the last checkpoint has.
var ErrRewound = errors.New("it was restored from an older backup, or blocks were removed")

// Checkpoints appends signed checkpoints to files of a directory, one file a month.
type Checkpoints struct {
	dir  string
	key  *audit.Key
	read map[string]int64    // bytes of each file that were read
	tips map[digest]struct{} // hashes of the lines that no line names
	last map[uuid.UUID]head  // the highest head of each practice, of the lines that the key signed
}

// OpenCheckpoints creates the directory if it is missing, and continues after its last checkpoint.
func OpenCheckpoints(dir string, key *audit.Key) (*Checkpoints, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: checkpoints: %w", err)
	}
	c := &Checkpoints{dir: dir, key: key, read: map[string]int64{}, tips: map[digest]struct{}{}, last: map[uuid.UUID]head{}}
	return c, c.follow()
}

// follow reads the lines that this and other processes have added.
func (c *Checkpoints) follow() error {
	return readCheckpoints(c.dir, c.read, func(l line) {
		for _, hash := range l.checkpoint.Previous {
			if len(hash) == sha256.Size {
				delete(c.tips, digest(hash))
			}
		}
		c.tips[l.hash] = struct{}{}
		if !l.checkpoint.valid(c.key.Public()) {
			return
		}
		for _, h := range l.checkpoint.Heads {
			if h.Number > c.last[h.Practice].Number {
				c.last[h.Practice] = h
			}
		}
	})
}

// newestBlocks selects the last block of each practice and of the events of none, $1. The order is that of the
// numbers, which are in the hashes; the ids are not.
const newestBlocks = `SELECT b.practice_id, b.number, b.hash, b.at FROM practices AS p
	JOIN audit_blocks AS b ON b.practice_id = p.id AND b.number = (SELECT max(number) FROM audit_blocks WHERE practice_id = p.id)
	UNION ALL SELECT practice_id, number, hash, at FROM audit_blocks
	WHERE practice_id = $1 AND number = (SELECT max(number) FROM audit_blocks WHERE practice_id = $1)`

// Write appends a checkpoint if there are new blocks. If the database lacks a block of the
// checkpoints it returns ErrRewound and writes nothing, so that the directory stays the evidence of the
// blocks that were.
func (c *Checkpoints) Write(ctx context.Context, db *store.DB) error {
	if err := c.follow(); err != nil {
		return fmt.Errorf("audit: read the checkpoints: %w", err)
	}
	newest, next := map[uuid.UUID]head{}, checkpoint{At: clock.Now(clock.Refresh(ctx)).UTC()}
	err := forEach(ctx, db.SQL, newestBlocks, func(rows *sql.Rows) error {
		var h head
		err := rows.Scan(&h.Practice, &h.Number, &h.Hash, &h.At)
		h.At = h.At.UTC()
		newest[h.Practice] = h
		return err
	}, uuid.Nil)
	if err == nil {
		err = c.checkLast(ctx, db, newest)
	}
	if err != nil {
		return fmt.Errorf("audit: write a checkpoint: %w", err)
	}
	for practice, h := range newest {
		if h.Number > c.last[practice].Number {
			next.Heads = append(next.Heads, h)
		}
	}
	if len(next.Heads) == 0 {
		return nil
	}
	slices.SortFunc(next.Heads, func(a, b head) int { return bytes.Compare(a.Practice[:], b.Practice[:]) })
	for hash := range c.tips {
		next.Previous = append(next.Previous, hash[:])
	}
	slices.SortFunc(next.Previous, bytes.Compare)
	message, err := next.message()
	if err != nil {
		return err
	}
	next.Signature = c.key.Sign(message)
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := appendLine(filepath.Join(c.dir, "audit-"+next.At.Format("2006-01")+".jsonl"), text); err != nil {
		return fmt.Errorf("audit: write a checkpoint: %w", err)
	}
	return nil
}

// checkLast checks that the database has the blocks of the checkpoints, apart from those that
// were pruned and those of practices that are deleted.
func (c *Checkpoints) checkLast(ctx context.Context, db *store.DB, newest map[uuid.UUID]head) error {
	for practice, h := range c.last {
		if bytes.Equal(newest[practice].Hash, h.Hash) {
			continue
		}
		var have []byte
		var gone bool
		err := db.SQL.QueryRowContext(ctx, `SELECT (SELECT hash FROM audit_blocks WHERE practice_id = $1 AND number = $2),
			EXISTS (SELECT * FROM audit_cuts WHERE practice_id = $1 AND number >= $2) OR EXISTS (SELECT * FROM practice_deletions AS d WHERE d.id = $1 AND `+deletionBegan+`)`,
			practice, h.Number).Scan(&have, &gone)
		if err != nil {
			return err
		}
		if bytes.Equal(have, h.Hash) || have == nil && gone {
			continue
		}
		what := "lacks"
		if have != nil {
			what = "has another"
		}
		return fmt.Errorf("the database %s block %d of practice %s, sealed at %s, which a checkpoint has: %w. Nothing is written to %s, which is the evidence: keep it, run \"chairside audit verify\", and continue with an empty directory (--audit-checkpoints)",
			what, h.Number, practice, h.At.Format(time.RFC3339), ErrRewound, c.dir)
	}
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
	if info, failed := f.Stat(); err == nil && failed == nil && info.Size() == int64(n) { // a new file
		err = durable.SyncDir(filepath.Dir(file))
	}
	return errors.Join(err, f.Close())
}

// line is a line of a file of checkpoints.
type line struct {
	file       string
	number     int
	hash       digest
	checkpoint *checkpoint // empty, and so not valid, if the line cannot be read
}

// String returns the line's place.
func (l line) String() string { return fmt.Sprintf("checkpoint %s, line %d", l.file, l.number) }

// readCheckpoints calls found for every line of every file, in order. It begins at the positions of
// read, by file, and advances them; after that a line's number is only known if read was empty.
func readCheckpoints(dir string, read map[string]int64, found func(line)) error {
	entries, err := os.ReadDir(dir) // unlike Glob, it fails for a directory that is missing
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if ours, _ := filepath.Match("audit-*.jsonl", name); !ours {
			continue
		}
		if err := readLines(filepath.Join(dir, name), read, found); err != nil {
			return err
		}
	}
	return nil
}

func readLines(path string, read map[string]int64, found func(line)) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	name := filepath.Base(path)
	if _, err := f.Seek(read[name], io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(text) == 0 {
			return nil
		}
		l := line{file: name, number: n, checkpoint: &checkpoint{}}
		read[name] += int64(len(text))
		text = bytes.TrimSuffix(text, []byte("\n"))
		l.hash = sha256.Sum256(text)
		if json.Unmarshal(text, l.checkpoint) != nil {
			l.checkpoint = &checkpoint{} // which is not valid
		}
		found(l)
	}
}
