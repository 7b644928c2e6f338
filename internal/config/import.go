package config

// ImportFlags are the flags of "chairside import".
type ImportFlags struct {
	Database
	Mapping  string `placeholder:"FILE" help:"Mapping of another system's CSV files. Default: mapping.yaml in the directory."`
	Practice string `placeholder:"ID" help:"Practice that CSV files are imported into: its id or its short name. Default: the mapping's, or the only practice."`
	Rejects  string `placeholder:"DIR" help:"Directory for rejected rows and warnings. Default: rejects in the directory."`
	DryRun   bool   `help:"Check the files and write the rejects, without changing the database."`
	Dir      string `arg:"" help:"Directory with an export, or with CSV files from another system and a mapping."`
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
