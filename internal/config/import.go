package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ImportFlags are the flags of "chairside import".
type ImportFlags struct {
	Database
	Mapping   string            `placeholder:"FILE" words:"mappings" help:"Mapping of another system's CSV files, or the name of a ready one (${mappings}). Default: mapping.yaml in the directory."`
	Practice  string            `placeholder:"ID" help:"Practice to import CSV files into: its id or its short name. Default: the mapping's, or the only practice."`
	Rejects   string            `placeholder:"DIR" help:"Directory for rejected rows and warnings. Default: rejects in the directory."`
	DryRun    bool              `help:"Check the files and write the rejects, without changing the database."`
	FromAPI   string            `name:"from-api" placeholder:"URL" help:"Download the records of a server with an API like Chairside's into the directory first, and import them. Continues an interrupted download."`
	TokenFile string            `placeholder:"FILE" help:"For --from-api: file that holds the access token. Default: the environment variable CHAIRSIDE_TOKEN."`
	Explain   bool              `help:"Print the mapping of another system's CSV files as it will be used, with three rows of each file, and import nothing."`
	IDMap     string            `name:"id-map" placeholder:"FILE" help:"For an export of one practice: CSV file to write with the ids that changed (table, old_id, new_id)."`
	Slug      string            `placeholder:"NAME" help:"For an export of one practice: its new short name."`
	Email     map[string]string `mapsep:"," placeholder:"OLD=NEW" help:"For an export of one practice: a user's new e-mail address. Repeat the flag for each user."`
	Dir       string            `arg:"" help:"Directory with an export, or with CSV files from another system and a mapping. With --from-api: a new directory."`

	API Client `kong:"-"` // of --from-api; set by Read
}

// shortName matches short names of practices.
var shortName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f ImportFlags) Read() (ImportFlags, error) {
	var m Mistakes
	f.Database.check(&m)
	checkDir(&m, f.Dir)
	if f.FromAPI != "" {
		if f.API.Server = strings.TrimRight(f.FromAPI, "/"); !isPrivate(f.API.Server) {
			m.add("from-api", "%s", serverRule)
		}
		f.API.Token = readToken(f.TokenFile, &m)
	}
	if f.Slug != "" && !shortName.MatchString(f.Slug) {
		m = append(m, "--slug: must be lower-case letters, digits and hyphens")
	}
	emails := make(map[string]string, len(f.Email))
	for _, old := range slices.Sorted(maps.Keys(f.Email)) {
		from, to := old, f.Email[old]
		readEmail(&m, &from)
		readEmail(&m, &to)
		if emails[from] != "" {
			m = append(m, fmt.Sprintf("--email: %s occurs twice", from))
		}
		emails[from] = to
	}
	f.Email = emails
	return f, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f ImportFlags) Validate() error {
	_, err := f.Read()
	return err
}
