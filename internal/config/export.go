package config

import "strings"

// ExportFlags are the flags of "chairside export".
type ExportFlags struct {
	Database
	Format   string `placeholder:"FORMAT" enum:"ndjson,csv" default:"ndjson" help:"File format: ndjson or csv. Default: ${default}"`
	Practice string `placeholder:"ID" help:"Export only this practice: its id or its short name."`
	Unsealed bool   `help:"Write columns that are sealed in the database in plain text: for an installation with other keys."`
	Dir      string `arg:"" help:"Directory to create. If it exists, it must be empty."`
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ExportFlags) Read() (ExportFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	checkDir(&m, f.Dir)
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ExportFlags) Validate() error {
	_, err := f.Read()
	return err
}

func checkDir(m *Mistakes, dir string) {
	if strings.TrimSpace(dir) == "" || strings.ContainsRune(dir, 0) {
		*m = append(*m, "<dir>: must be a directory")
	}
}
