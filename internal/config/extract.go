package config

// ExtractFlags are the flags of "chairside extract".
type ExtractFlags struct {
	Database
	Practice  string   `placeholder:"ID" help:"Practice: its id or its short name. Default: that of the folder's last run, or the only practice."`
	Format    string   `placeholder:"FORMAT" enum:"parquet,ndjson," default:"" help:"File format: parquet or ndjson. Default: that of the folder's last run, or parquet."`
	Resources []string `placeholder:"NAME" help:"Only these resources, separated by commas, such as patients,appointments. Default: those of the folder's last run, or all."`
	Since     string   `placeholder:"CURSOR" help:"In a new folder, begin with the changes after this cursor in place of all records."`
	Unsealed  bool     `help:"Also write columns that are sealed in the database, in plain text. Default: as in the folder's last run, or leave them out."`
	Dir       string   `arg:"" help:"Folder of the extract. The first run needs one that is empty or does not exist."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ExtractFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	checkDir(&m, f.Dir)
	return m.err()
}
