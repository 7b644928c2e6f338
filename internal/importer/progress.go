package importer

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// note is how far an import has come: what import_runs keeps as JSON. It is written in the
// transaction of the rows it counts.
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

// begin finds out whether the same import was stopped on its way. One that was finished begins
// anew; so does one whose rejects and findings are not where it is to go on writing them: its
// rows are there, and are found again.
func (im *importer) begin(digest string) (resumed bool, err error) {
	err = im.inTx(nil, func(b *batch) {
		var content []byte
		var finished *time.Time
		err := b.tx.QueryRowContext(im.ctx, "SELECT id, progress, finished_at FROM import_runs WHERE digest = $1", digest).Scan(&im.runID, &content, &finished)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			b.fail(fmt.Errorf("look for the import: %w", err))
			return
		}
		im.note = newNote(im.plans, im.started)
		if err == nil && finished == nil {
			var n note
			if b.fail(json.Unmarshal(content, &n)); b.err == nil && len(n.Files) == len(im.plans) && im.holds(n) {
				im.note, im.saved, resumed = n, content, true
				return
			}
		}
		im.saved, _ = json.Marshal(im.note) // texts and numbers always marshal
		b.queryRow(`INSERT INTO import_runs (digest, progress, created_at, updated_at) VALUES ($1, $2, $3, $3)
			ON CONFLICT (digest) DO UPDATE SET progress = $2, finished_at = NULL, updated_at = $3 RETURNING id`, []any{digest, im.saved, im.started}, &im.runID)
	})
	return resumed, err
}

// holds reports whether the files that an import has written are there, as far as its note says.
func (im *importer) holds(n note) bool {
	sizes := map[string]int64{Findings: n.Findings}
	for i, p := range im.plans {
		sizes[p.rejects] = n.Files[i].Place
	}
	for name, bytes := range sizes {
		info, err := os.Stat(filepath.Join(im.out, name))
		if bytes > 0 && (err != nil || info.Size() < bytes) {
			return false
		}
	}
	return true
}

// ErrBusy is returned by Import where another process imports the same files.
var ErrBusy = errors.New("the same files are being imported by another process")

// save notes the progress, unless somebody else has noted theirs meanwhile.
func (b *batch) save(n note) {
	if b.dry != nil || b.err != nil {
		return
	}
	content, _ := json.Marshal(n) // texts and numbers always marshal
	result, err := b.tx.ExecContext(b.ctx, "UPDATE import_runs SET progress = $1, updated_at = $2 WHERE id = $3 AND progress = $4", content, b.clock(), b.runID, b.saved)
	if err != nil {
		b.fail(fmt.Errorf("note the progress: %w", err))
		return
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		b.fail(errors.Join(ErrBusy, err))
	}
	b.saved = content // where the commit fails, the import does
}

// reach notes that a stage begins.
func (im *importer) reach(stage string) error {
	n := im.note.clone()
	n.Stage = stage
	err := im.inTx(nil, func(b *batch) { b.save(n) })
	if err == nil {
		im.note = n
	}
	return err
}

// end notes that all is in.
func (im *importer) end() error {
	return im.inTx(nil, func(b *batch) {
		b.exec("UPDATE import_runs SET finished_at = $1 WHERE id = $2", b.now, im.runID)
	})
}
