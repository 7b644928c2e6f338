package transfer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
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

// Rejected counts the rows that did not go in.
func (r *Report) Rejected() (n int) {
	for _, f := range r.Files {
		n += f.Rejected
	}
	return n
}

// finding is something to look at about a row that went in: one line of
// findings.csv.
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

// Findings is the name of the file that lists what there is to look at about
// rows that went in.
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

// rejectRecord is the line of a row that was refused: everything that is wrong
// with it, and the row.
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

// sheet is a CSV file that only grows. What was written after a place that was
// noted can be taken back.
type sheet struct {
	file *os.File
	csv  *csv.Writer
}

// openSheet goes on at a place, or begins a new file at 0 with a header.
func openSheet(path string, from int64, header []string) (*sheet, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("transfer: %w", err)
	}
	s := &sheet{file: file, csv: csv.NewWriter(file)}
	if err := file.Truncate(from); err != nil {
		return nil, errors.Join(fmt.Errorf("transfer: %w", err), file.Close())
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("transfer: %w", err), file.Close())
	}
	if from == 0 {
		err = s.csv.Write(header)
	}
	return s, err
}

// write adds lines and gives the place after them, when they are on the disk.
func (s *sheet) write(records ...[]string) (int64, error) {
	for _, r := range records {
		if err := s.csv.Write(r); err != nil {
			return 0, fmt.Errorf("transfer: %w", err)
		}
	}
	s.csv.Flush()
	if err := s.csv.Error(); err != nil {
		return 0, fmt.Errorf("transfer: %w", err)
	}
	if len(records) > 0 {
		if err := s.file.Sync(); err != nil {
			return 0, fmt.Errorf("transfer: %w", err)
		}
	}
	place, err := s.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, fmt.Errorf("transfer: %w", err)
	}
	return place, nil
}

// close ends the file.
func (s *sheet) close() error {
	s.csv.Flush()
	return errors.Join(s.csv.Error(), s.file.Close())
}
