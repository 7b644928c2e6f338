package importer

import (
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// FileReport is what became of the rows of one file.
type FileReport struct {
	File      string `json:"file"`
	Entity    string `json:"entity"`
	Rows      int    `json:"rows"`
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Unchanged int    `json:"unchanged"`
	Rejected  int    `json:"rejected"`
}

// Report is what an import did.
type Report struct {
	Files       []FileReport
	Warnings    int // rows to look at, which went in
	Differences int // totals that are not what the file says
	Ignored     map[string][]string
	Resumed     bool // it went on where another one was stopped
}

// complete says what became of the rows, and which columns go nowhere, by file: one that is
// listed several times may use another column each time.
func (im *importer) complete(report *Report) {
	report.Warnings, report.Differences, report.Ignored = im.note.Warnings, im.note.Differences, map[string][]string{}
	for i, p := range im.plans {
		f := im.note.Files[i]
		report.Files = append(report.Files, FileReport{
			File: p.name, Entity: p.entity.Name, Rows: f.Rows,
			Created: f.Created, Updated: f.Updated, Unchanged: f.Unchanged, Rejected: f.Rejected,
		})
		if left, listed := report.Ignored[p.name]; listed {
			report.Ignored[p.name] = slices.DeleteFunc(left, func(column string) bool { return !slices.Contains(p.ignored, column) })
		} else {
			report.Ignored[p.name] = slices.Clone(p.ignored)
		}
	}
	maps.DeleteFunc(report.Ignored, func(_ string, left []string) bool { return len(left) == 0 })
}

// Rejected counts the rows that did not go in.
func (r *Report) Rejected() (n int) {
	for _, f := range r.Files {
		n += f.Rejected
	}
	return n
}

// finding is something to look at about a row that went in: one line of findings.csv.
type finding struct {
	file              string
	line              int
	legacy            string
	kind              string // warning or difference
	field             string
	claimed, computed string
	message           string
}

const (
	warning    = "warning"
	difference = "difference"
)

// Findings is the name of the file that lists what there is to look at about rows that went in.
const Findings = "findings.csv"

var (
	findingsHeader = []string{"file", "line", "legacy_id", "kind", "field", "claimed", "computed", "message"}
	rejectsHeader  = []string{"line", "field", "reason"}
)

func (f finding) record() []string {
	line := ""
	if f.line > 0 {
		line = strconv.Itoa(f.line)
	}
	return []string{f.file, line, f.legacy, f.kind, f.field, f.claimed, f.computed, f.message}
}

// rejectRecord is the line of a row that was refused: everything that is wrong with it, and the
// row.
func rejectRecord(r *record) []string {
	var fields, reasons []string
	for _, p := range r.problems {
		if p.field != "" && (len(fields) == 0 || fields[len(fields)-1] != p.field) {
			fields = append(fields, p.field)
		}
		reason := p.reason
		if p.field != "" && len(r.problems) > 1 {
			reason = p.field + " " + reason
		}
		reasons = append(reasons, reason)
	}
	return append([]string{strconv.Itoa(r.line), strings.Join(fields, ", "), strings.Join(reasons, "; ")}, r.cells...)
}

// sheet is a CSV file that only grows. What was written after a place that was noted can be taken
// back.
type sheet struct {
	file *os.File
	csv  *csv.Writer
}

// openSheet goes on at a place, or begins a new file at 0 with a header.
func openSheet(path string, from int64, header []string) (*sheet, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &sheet{file: file, csv: csv.NewWriter(file)}
	if err = file.Truncate(from); err == nil {
		_, err = file.Seek(from, io.SeekStart)
	}
	if err == nil && from == 0 {
		err = s.csv.Write(header)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// write adds lines and gives the place after them, when they are on the disk.
func (s *sheet) write(records ...[]string) (int64, error) {
	if err := s.csv.WriteAll(records); err != nil { // and what was written before
		return 0, err
	}
	if len(records) > 0 {
		if err := s.file.Sync(); err != nil {
			return 0, err
		}
	}
	return s.file.Seek(0, io.SeekCurrent)
}

// close ends the file.
func (s *sheet) close() error {
	s.csv.Flush()
	return errors.Join(s.csv.Error(), s.file.Close())
}

// found writes findings and counts them.
func (b *batch) found(n *note, findings []finding) {
	if b.err != nil {
		return
	}
	var lines [][]string
	for _, f := range findings {
		if lines = append(lines, f.record()); f.kind == warning {
			n.Warnings++
		} else {
			n.Differences++
		}
	}
	var err error
	n.Findings, err = b.findings.write(lines...)
	b.fail(err)
}
