package config

// ImportFlags are the flags of "chairside import".
type ImportFlags struct {
	Database
	Mapping  string `placeholder:"FILE" help:"How the files of another system are read. Default: mapping.yaml in the directory."`
	Practice string `placeholder:"ID" help:"The practice to import another system's files into: its id or its short name. Default: the mapping's, or the only practice."`
	Rejects  string `placeholder:"DIR" help:"Where to write the rows that were refused and what else there is to look at. Default: rejects in the directory."`
	DryRun   bool   `help:"Check everything and write what would be refused, but leave the database as it is."`
	Dir      string `arg:"" help:"An export of this program's, or the CSV files of another system with a mapping."`
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ImportFlags) Read() (ImportFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	checkDir(&m, f.Dir)
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ImportFlags) Validate() error {
	_, err := f.Read()
	return err
}
