package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"chairside/internal/config"
	"chairside/internal/server"
	"chairside/internal/store"
	"chairside/internal/web"
)

type doctorCommand struct {
	config.DoctorFlags
	listing
}

// Help is the text of --help.
func (doctorCommand) Help() string {
	return `Checks an installation as a server with the same flags would use it. Run it with the flags or the environment of "chairside serve", on the same machine:

  - all migrations are applied, and the keys of all sealed values are there
  - only their owner and group can open the files with patients' data and keys
  - list totals match the rows; this reads every row
  - PostgreSQL: the audit log has partitions for the months to come; row-level security is on, complete, and used by the right roles, none of them a superuser
  - PostgreSQL: the replicas of --replica-url follow the database and are at most 2 s behind
  - an embedded database with --backup-dir: the newest copy is not older than --backup-every and 15 minutes
  - PostgreSQL: this machine's clock and the database server's differ by at most 2 s
  - the server's own certificate is valid for 14 more days, is for the host of --base-url, and is followed by its issuers'
  - --base-url, --tls-cert and --trusted-proxies fit together

Prints each check with its result, what was found and what mends it. The exit status is 1 if any check failed, and also if one could not be run; "not checked" is what does not apply. Administrators see the same checks of a running server at /settings/status.`
}

// Run prints the checks and fails if one of them does.
func (d *doctorCommand) Run(c *console) error {
	flags, err := d.Read()
	if err != nil {
		return err
	}
	checks, err := c.diagnose(flags)
	if err != nil {
		return err
	}
	problems := 0
	var cells [][]any
	for _, check := range checks {
		result, found := map[web.CheckState]string{web.Passed: passed, web.Failed: failed, web.NotChecked: skipped}[check.State], packageName.ReplaceAllString(check.Text, "")
		if check.Err != nil {
			result, found = failed, "cannot be checked: "+plainLine(check.Err)
		}
		if result == failed {
			problems++
		}
		row := []any{strings.ToLower(check.Name), result, found, check.Mend}
		if d.Format == "table" {
			row = append(row[:2], strings.TrimSuffix(found+": "+check.Mend, ": "))
		}
		cells = append(cells, row)
	}
	if err := d.print(c, []string{"CHECK", "RESULT", "FOUND", "TO DO"}[:len(cells[0])], cells); err != nil {
		return err
	}
	if problems > 0 {
		return errors.New(count(problems, "problem") + " found")
	}
	fmt.Fprintln(c.err, "no problems found")
	return nil
}

// diagnose returns the outcomes of the checks. Migrations come first, as for a server: without them most others
// mean nothing.
func (c *console) diagnose(d config.Doctor) (checks []web.Check, err error) {
	in := &server.Installation{Network: server.Network{BaseURL: d.BaseURL, CertFile: d.CertFile, KeyFile: d.KeyFile, TrustedProxies: d.TrustedProxies}}
	if in.BaseURL == "" {
		in.BaseURL = urlOf(d.Addr, d.CertFile != "")
	}
	without := func(name string, err error) ([]web.Check, error) {
		in.DB, in.SecretFiles = nil, secretFiles(nil, d.Database)
		if file := d.Database.File(); file != "" {
			in.SecretFiles = append(in.SecretFiles, file, keysBeside(file))
		}
		return in.DiagnoseWithout(c, web.Check{Name: name, State: web.Failed, Text: plainLine(err)}), nil
	}
	first := cmp.Or(d.SystemDatabaseURL, d.Database.DatabaseURL) // the serving role may read no migrations
	db, err := store.OpenExisting(c, first)
	if err != nil {
		return without("Database", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	in.DB, in.SecretFiles = db, secretFiles(db, d.Database)
	if in.Backups, err = openBackups(d.Backup); err != nil {
		return nil, err
	}
	if checks = in.NotMigrated(c); checks != nil {
		return checks, nil
	}
	in.KeysError = loadKeys(db, d.Database)
	if db.File == "" {
		serving, failed := store.OpenServing(c, d.Database.DatabaseURL, d.SystemDatabaseURL)
		if failed != nil {
			return without("Database", failed)
		}
		defer func() { err = errors.Join(err, serving.Close()) }()
		in.ReplicasError = serving.UseReplicas(d.ReplicaURLs, slog.New(slog.DiscardHandler))
		serving.Keys, serving.AuditKey, in.DB = db.Keys, db.AuditKey, serving
	}
	return in.Diagnose(c, 0), nil
}
