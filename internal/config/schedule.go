package config

import (
	"path/filepath"

	"chairside/internal/codec"
	"chairside/schema"
)

// ReportScheduleFlags are the flags of "chairside report schedule add". Variables do not set the destination: one that
// is set for another command must not change where patients' data goes.
type ReportScheduleFlags struct {
	Database
	User   string `required:"" placeholder:"EMAIL" help:"User whose rights the report has at each run. The report is of the user's practice."`
	Every  string `required:"" placeholder:"DAY@TIME" help:"Day of the week and time, in the practice's time zone, such as monday@07:00."`
	Period string `placeholder:"PERIOD" enum:"default,last-week,last-month" default:"default" help:"Days that the report covers: default (the report's own), last-week (Monday to Sunday) or last-month. Default: ${default}"`
	Format string `placeholder:"FORMAT" enum:"xlsx,csv,html" default:"xlsx" help:"Format of the file: xlsx (an Excel workbook with all tables), csv (the first table) or html (a page with charts). Default: ${default}"`
	To     string `env:"-" placeholder:"DIR" help:"Store the files in this directory of the server, an absolute path. It must exist."`
	Mail   string `env:"-" placeholder:"ADDRESS" help:"Mail the files to this address. A server needs --smtp-addr for it."`
}

// ReportSchedule is the parsed ReportScheduleFlags.
type ReportSchedule struct {
	Database              Database
	User                  string
	Every, Period, Format string
	To, Mail              string // one of them is ""
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ReportScheduleFlags) Read() (ReportSchedule, error) {
	var m Mistakes
	f.Database.check(&m)
	switch {
	case f.To == "" && f.Mail == "":
		m.add("to", "this or --mail is required")
	case f.To != "" && f.Mail != "":
		m.add("to", "cannot be used with --mail: add two schedules")
	case f.To != "" && !filepath.IsAbs(f.To):
		m.add("to", "must be an absolute path, such as /srv/reports: servers have directories of their own")
	case f.Mail != "" && !codec.ValidEmail(f.Mail):
		m.add("mail", "must be an e-mail address, such as ann@example.com")
	}
	return ReportSchedule{
		Database: f.Database, User: schema.NormalizeEmail(f.User), Every: f.Every, Period: f.Period, Format: f.Format, To: f.To, Mail: f.Mail,
	}, m.err()
}
