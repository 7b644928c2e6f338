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

// checkpoint is how far an import has come. import_runs stores it as JSON, in the transaction of
// the rows that it counts.
type checkpoint struct {
	Started     time.Time      `json:"started"`
	Stage       string         `json:"stage"`
	Files       []fileProgress `json:"files"`    // in the order of importer.plans
	Findings    int64          `json:"findings"` // bytes of findings.csv
	Warnings    int            `json:"warnings"`
	Differences int            `json:"differences"`
}

type fileProgress struct {
	Rows         int   `json:"rows"`    // that were read and stored or rejected
	RejectsBytes int64 `json:"rejects"` // size of the file of rejects
	Done         bool  `json:"done"`
	rowCounts
}

// rowCounts counts rows by what the import did with them.
type rowCounts struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
}

func (c *rowCounts) add(more rowCounts) {
	c.Created += more.Created
	c.Updated += more.Updated
	c.Unchanged += more.Unchanged
	c.Rejected += more.Rejected
}

// Stages of an import. It resumes in the stage in which it was interrupted.
const (
	stageLoad   = "load"
	stageTotals = "settle"
	stageCheck  = "compare"
)

func newCheckpoint(plans []*plan, now time.Time) checkpoint {
	return checkpoint{Started: now, Stage: stageLoad, Files: make([]fileProgress, len(plans))}
}

func (c checkpoint) clone() checkpoint {
	c.Files = slices.Clone(c.Files)
	return c
}

// startRun resumes an interrupted import of the same files, and reports whether it does.
// Otherwise it starts from the beginning: without a checkpoint, after a finished import, or if
// rejects and findings are not in the directory. Rows that are in the database already are then
// matched and stay unchanged.
func (im *importer) startRun(digest string) (resumed bool, err error) {
	err = im.inTx(nil, func(b *batch) {
		var content []byte
		var finished *time.Time
		err := b.tx.QueryRowContext(im.ctx, "SELECT id, progress, finished_at FROM import_runs WHERE digest = $1", digest).Scan(&im.runID, &content, &finished)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			b.fail(fmt.Errorf("find the interrupted import: %w", err))
			return
		}
		im.checkpoint = newCheckpoint(im.plans, im.started)
		if err == nil && finished == nil {
			var c checkpoint
			if b.fail(json.Unmarshal(content, &c)); b.err == nil && len(c.Files) == len(im.plans) && im.hasOutput(c) {
				im.checkpoint, im.saved, resumed = c, content, true
				return
			}
		}
		im.saved, _ = json.Marshal(im.checkpoint) // texts and numbers always marshal
		b.queryRow(`INSERT INTO import_runs (digest, progress, created_at, updated_at) VALUES ($1, $2, $3, $3)
			ON CONFLICT (digest) DO UPDATE SET progress = $2, finished_at = NULL, updated_at = $3 RETURNING id`, []any{digest, im.saved, im.started}, &im.runID)
	})
	return resumed, err
}

// hasOutput reports whether the files of rejects and findings are at least as long as the
// checkpoint says.
func (im *importer) hasOutput(c checkpoint) bool {
	sizes := map[string]int64{Findings: c.Findings}
	for i, p := range im.plans {
		sizes[p.rejects] = c.Files[i].RejectsBytes
	}
	for name, size := range sizes {
		info, err := os.Stat(filepath.Join(im.outDir, name))
		if size > 0 && (err != nil || info.Size() < size) {
			return false
		}
	}
	return true
}

// ErrBusy is returned by Import if another process imports the same files.
var ErrBusy = errors.New("the same files are being imported by another process")

// saveCheckpoint stores a checkpoint, or fails with ErrBusy if another process has stored one.
// A dry run stores none.
func (b *batch) saveCheckpoint(c checkpoint) {
	if b.dryTx != nil || b.err != nil {
		return
	}
	content, _ := json.Marshal(c) // texts and numbers always marshal
	result, err := b.tx.ExecContext(b.ctx, "UPDATE import_runs SET progress = $1, updated_at = $2 WHERE id = $3 AND progress = $4", content, b.clock(), b.runID, b.saved)
	if err != nil {
		b.fail(fmt.Errorf("save the progress: %w", err))
		return
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		b.fail(errors.Join(ErrBusy, err))
	}
	b.saved = content // if the commit fails, so does the import
}

// startStage stores that a stage begins.
func (im *importer) startStage(stage string) error {
	next := im.checkpoint.clone()
	next.Stage = stage
	err := im.inTx(nil, func(b *batch) { b.saveCheckpoint(next) })
	if err == nil {
		im.checkpoint = next
	}
	return err
}

// finishRun stores that the import is finished.
func (im *importer) finishRun() error {
	return im.inTx(nil, func(b *batch) {
		b.exec("UPDATE import_runs SET finished_at = $1 WHERE id = $2", b.now, im.runID)
	})
}
