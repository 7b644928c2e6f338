package importer

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FileReport counts the rows of one file by what the import did with them.
type FileReport struct {
	File      string `json:"file"`
	Entity    string `json:"entity"`
	Rows      int    `json:"rows"`
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Unchanged int    `json:"unchanged"`
	Rejected  int    `json:"rejected"`
}

// Report is the result of an import.
type Report struct {
	Practice    string // id of the practice that the files went to
	Files       []FileReport
	Warnings    int                 // findings about rows that were imported
	Differences int                 // totals that differ from the files'
	Ignored     map[string][]string // columns that were not imported, by file
	Missing     []string            // files of an optional mapping that the directory does not have
	Resumed     bool                // the import resumed an interrupted one
}

// Rejected returns the number of rejected rows in all files.
func (r *Report) Rejected() (n int) {
	for _, f := range r.Files {
		n += f.Rejected
	}
	return n
}

// fillReport fills a report from the checkpoint. A column of a file that is listed several
// times is only ignored if all plans for the file ignore it.
func (im *importer) fillReport(report *Report) {
	report.Warnings, report.Differences, report.Ignored = im.checkpoint.Warnings, im.checkpoint.Differences, map[string][]string{}
	for i, p := range im.plans {
		f := im.checkpoint.Files[i]
		report.Files = append(report.Files, FileReport{
			File: p.name, Entity: p.entity.Name, Rows: f.Rows,
			Created: f.Created, Updated: f.Updated, Unchanged: f.Unchanged, Rejected: f.Rejected,
		})
		if ignored, listed := report.Ignored[p.name]; listed {
			report.Ignored[p.name] = slices.DeleteFunc(ignored, func(column string) bool { return !slices.Contains(p.ignored, column) })
		} else {
			report.Ignored[p.name] = slices.Clone(p.ignored)
		}
	}
	report.Missing = im.missing
	maps.DeleteFunc(report.Ignored, func(_ string, ignored []string) bool { return len(ignored) == 0 })
}

// Findings is the name of the file that lists what to check about imported rows.
const Findings = "findings.csv"

var (
	findingsHeader = []string{"file", "line", "legacy_id", "kind", "field", "claimed", "computed", "message"}
	rejectsHeader  = []string{"line", "field", "reason"} // then the columns of the source file
)

// finding is one line of findings.csv.
type finding struct {
	file              string
	line              int // 0 if it is not known
	legacyID          string
	kind              string // warning or difference
	field             string
	claimed, computed string // by the file, by the import
	message           string
}

const (
	warning    = "warning"
	difference = "difference"
)

func (f finding) cells() []string {
	line := ""
	if f.line > 0 {
		line = strconv.Itoa(f.line)
	}
	return []string{f.file, line, f.legacyID, f.kind, f.field, f.claimed, f.computed, f.message}
}

// writeFindings appends findings to findings.csv, counts them and sets the size of the file in
// the checkpoint.
func (b *batch) writeFindings(c *checkpoint, findings []finding) {
	if b.err != nil {
		return
	}
	var lines [][]string
	for _, f := range findings {
		if lines = append(lines, f.cells()); f.kind == warning {
			c.Warnings++
		} else {
			c.Differences++
		}
	}
	var err error
	c.Findings, err = b.findings.write(lines...)
	b.fail(err)
}

// rejectLine returns the line of a record in the file of rejects: all fields with problems, all
// reasons, and the cells of the row.
func rejectLine(r *record) []string {
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
	return append([]string{strconv.Itoa(r.source.line), strings.Join(fields, ", "), strings.Join(reasons, "; ")}, r.cells...)
}
