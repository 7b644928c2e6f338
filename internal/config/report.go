package config

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"chairside/internal/civil"
)

// ReportFlags are the flags of "chairside report NAME".
type ReportFlags struct {
	Database
	Practice     string `placeholder:"ID" help:"Practice: its id or its short name. Default: the oldest one."`
	From         string `placeholder:"DATE" help:"First day, YYYY-MM-DD. Default: depends on the report."`
	To           string `placeholder:"DATE" help:"Last day, or the day that the report describes, YYYY-MM-DD. Default: depends on the report."`
	Site         string `placeholder:"ID" help:"Limit the report to one site."`
	Practitioner string `placeholder:"ID" help:"Limit the report to one practitioner."`
	Compare      bool   `help:"Add the totals of the period before, and the change."`
	Sort         string `placeholder:"COLUMN" help:"Sort tables by a column, named as in JSON; -COLUMN for descending order."`
	Table        string `placeholder:"NAME" help:"With --format csv: the table to write, named as in JSON. Default: the first one."`
	Format       string `placeholder:"FORMAT" enum:"table,csv,xlsx,json,html" default:"table" help:"Output format: table, csv (one table), xlsx (an Excel workbook with all tables), json or html (a page with charts). Default: ${default}"`
	Output       string `short:"o" placeholder:"FILE" help:"Write to this file, replacing it. Default: standard output."`
}

// Report is the parsed ReportFlags.
type Report struct {
	Database       Database
	Practice       string     // "" if not given
	From, To       civil.Date // zero if not given
	Site           *uuid.UUID // nil for all
	Practitioner   *int64     // nil for all
	Compare        bool
	Sort, Table    string // "" if not given
	Format, Output string // Output is "" for standard output
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ReportFlags) Read() (Report, error) {
	var m Mistakes
	f.Database.check(&m)
	c := Report{
		Database: f.Database, Practice: strings.TrimSpace(f.Practice),
		Compare: f.Compare, Sort: f.Sort, Table: f.Table, Format: f.Format, Output: f.Output,
	}
	if f.Table != "" && f.Format != "csv" {
		m.add("table", "needs --format csv: the other formats have all tables")
	}
	c.From = readDate(&m, "from", f.From)
	c.To = readDate(&m, "to", f.To)
	if !c.From.IsZero() && !c.To.IsZero() && c.To.Before(c.From) {
		m.add("from", "must not be after --to")
	}
	if f.Site != "" {
		id, err := uuid.Parse(f.Site)
		if err != nil {
			m.add("site", "must be the id of a site")
		}
		c.Site = &id
	}
	if f.Practitioner != "" {
		id, err := strconv.ParseInt(f.Practitioner, 10, 64)
		if err != nil || id < 1 {
			m.add("practitioner", "must be the id of a practitioner, which is a number")
		}
		c.Practitioner = &id
	}
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ReportFlags) Validate() error {
	_, err := f.Read()
	return err
}

func readDate(m *Mistakes, flag, text string) (day civil.Date) {
	if text == "" {
		return day
	}
	day, err := civil.Parse(text)
	if err != nil {
		m.add(flag, "%v", err)
	}
	return day
}
