package transfer

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"chairside/internal/store/bulk"
)

// note is how far an import has come: what import_runs keeps as JSON. It is
// written in the transaction of the rows it counts.
type note struct {
	Started     time.Time      `json:"started"`
	Stage       string         `json:"stage"`
	Files       []fileProgress `json:"files"`
	Findings    int64          `json:"findings"` // bytes of findings.csv
	Warnings    int            `json:"warnings"`
	Differences int            `json:"differences"`
}

type fileProgress struct {
	Rows      int   `json:"rows"`    // that have been read
	Place     int64 `json:"rejects"` // bytes of the file of rejects
	Done      bool  `json:"done"`
	Created   int   `json:"created"`
	Updated   int   `json:"updated"`
	Unchanged int   `json:"unchanged"`
	Rejected  int   `json:"rejected"`
}

// add counts what became of some rows.
func (f *fileProgress) add(rows fileProgress) {
	f.Created += rows.Created
	f.Updated += rows.Updated
	f.Unchanged += rows.Unchanged
	f.Rejected += rows.Rejected
}

// The stages of an import.
const (
	stageLoad    = "load"
	stageSettle  = "settle"
	stageCompare = "compare"
)

func newNote(plans []*plan, now time.Time) note {
	return note{Started: now, Stage: stageLoad, Files: make([]fileProgress, len(plans))}
}

func (n note) clone() note {
	n.Files = slices.Clone(n.Files)
	return n
}

// begin finds out whether the same import was stopped on its way. One that was
// finished begins anew; so does one whose rejects and findings are not where it
// is to go on writing them: its rows are there, and are found again.
func (im *importer) begin(digest string) (resumed bool, err error) {
	err = im.inTx(func(tx *sql.Tx, _ *bulk.Tx) error {
		var content []byte
		var finished *time.Time
		err := tx.QueryRowContext(im.ctx, "SELECT id, progress, finished_at FROM import_runs WHERE digest = $1", digest).Scan(&im.run, &content, &finished)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("transfer: look for the import: %w", err)
		}
		known := err == nil
		im.note = newNote(im.plans, im.started)
		if known && finished == nil {
			var n note
			if err := json.Unmarshal(content, &n); err != nil {
				return fmt.Errorf("transfer: read the progress: %w", err)
			}
			if len(n.Files) == len(im.plans) && im.kept(n) {
				im.note, im.saved, resumed = n, content, true
				return nil
			}
		}
		fresh, err := json.Marshal(im.note)
		if err != nil {
			return fmt.Errorf("transfer: note the progress: %w", err)
		}
		query, args := "INSERT INTO import_runs (digest, progress, created_at, updated_at) VALUES ($1, $2, $3, $3) RETURNING id", []any{digest, fresh, im.started}
		if known {
			query, args = "UPDATE import_runs SET progress = $2, finished_at = NULL, updated_at = $3 WHERE digest = $1 RETURNING id", []any{digest, fresh, im.started}
		}
		if err := tx.QueryRowContext(im.ctx, query, args...).Scan(&im.run); err != nil {
			return fmt.Errorf("transfer: note the import: %w", err)
		}
		im.saved = fresh
		return nil
	})
	return resumed, err
}

// kept reports whether the files that an import has written are there, as far as
// its note says.
func (im *importer) kept(n note) bool {
	holds := func(name string, bytes int64) bool {
		if bytes == 0 {
			return true
		}
		info, err := os.Stat(filepath.Join(im.out, name))
		return err == nil && info.Size() >= bytes
	}
	for i, p := range im.plans {
		if !holds(p.rejects, n.Files[i].Place) {
			return false
		}
	}
	return holds(Findings, n.Findings)
}

// ErrBusy is returned by Import where another process imports the same files.
var ErrBusy = errors.New("the same files are being imported by another process")

// save notes the progress, unless somebody else has noted theirs meanwhile.
func (im *importer) save(tx *sql.Tx, n note) error {
	if im.dry != nil {
		return nil
	}
	content, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("transfer: note the progress: %w", err)
	}
	result, err := tx.ExecContext(im.ctx, "UPDATE import_runs SET progress = $1, updated_at = $2 WHERE id = $3 AND progress = $4", content, im.clock(), im.run, im.saved)
	if err != nil {
		return fmt.Errorf("transfer: note the progress: %w", err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(ErrBusy, err)
	}
	im.saved = content // where the commit fails, the import does
	return nil
}

// reach notes that a stage begins.
func (im *importer) reach(stage string) error {
	n := im.note.clone()
	n.Stage = stage
	err := im.inTx(func(tx *sql.Tx, _ *bulk.Tx) error { return im.save(tx, n) })
	if err == nil {
		im.note = n
	}
	return err
}

// end notes that all is in.
func (im *importer) end() error {
	if im.dry != nil {
		return nil
	}
	return im.inTx(func(tx *sql.Tx, _ *bulk.Tx) error {
		if _, err := tx.ExecContext(im.ctx, "UPDATE import_runs SET finished_at = $1 WHERE id = $2", im.clock(), im.run); err != nil {
			return fmt.Errorf("transfer: note the end: %w", err)
		}
		return nil
	})
}
