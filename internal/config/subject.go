package config

import "strings"

// SubjectDatabase are the flags of every command about a patient.
type SubjectDatabase struct {
	Database
	Practice string `placeholder:"ID" help:"Practice: its id or its short name. Default: the only practice."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f SubjectDatabase) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	return m.err()
}

// SubjectFlags are the flags of "chairside subject export".
type SubjectFlags struct {
	SubjectDatabase
	Format string `placeholder:"FORMAT" enum:"html,json,fhir" default:"html" help:"Output format: html (a page to read), json (everything) or fhir (FHIR R4: Patient, Appointment, Account, Invoice, Procedure). Default: ${default}"`
	Output string `short:"o" placeholder:"FILE" help:"Write to this file, replacing it. Default: standard output."`
}

// HoldFlags are the flags of "chairside subject hold".
type HoldFlags struct {
	SubjectDatabase
	Reason string `required:"" placeholder:"TEXT" help:"Why the record must be kept, such as a claim number. At most 255 bytes."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f HoldFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if n := len(strings.TrimSpace(f.Reason)); n == 0 || n > maxName || strings.ContainsRune(f.Reason, 0) {
		m.add("reason", "must not be blank, and have at most %d bytes", maxName)
	}
	return m.err()
}

// RetentionFlags are the flags of "chairside practice retention".
type RetentionFlags struct {
	Database
	Practice string `arg:"" help:"Practice: its id or its short name."`
	Years    *int   `placeholder:"N" help:"Years to keep records after the last entry: 1 to 100, or 0 for the default of the country. Default: show the years."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f RetentionFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if f.Years != nil && (*f.Years < 0 || *f.Years > 100) {
		m.add("years", "must be 1 to 100, or 0 for the default of the country")
	}
	return m.err()
}
