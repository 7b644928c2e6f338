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

type doctorCommand struct{ config.DoctorFlags }

// Help is the text of --help.
func (doctorCommand) Help() string {
	return `Checks an installation as a server with the same flags would use it. Run it with the flags or the environment of "chairside serve", on the same machine:

  - all migrations are applied, and the keys open every sealed value
  - only their owner and group can open the files with patients' data and keys
  - list totals match the rows; this reads every row
  - PostgreSQL: the audit log has partitions for the months to come; row-level security is on, complete, and used by the right roles, none of them a superuser
  - PostgreSQL: the replicas of --replica-url follow the database and are at most 2 s behind
  - an embedded database with --backup-dir: the newest copy is not older than --backup-every and 15 minutes
  - PostgreSQL: this machine's clock and the database server's differ by at most 2 s
  - the server's own certificate is valid for 14 more days, is for the host of --base-url, and is followed by its issuers'
  - --base-url, --tls-cert and --trusted-proxies fit together

Prints one problem per line with what mends it, and exits with status 1 if there is any. On standard error it names what it could not check. Administrators see the same checks of a running server at /settings/status.`
}

// Run prints the problems and fails if there are any.
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
	for _, check := range checks {
		switch line := strings.TrimSuffix(check.Text+": "+check.Mend, ": "); {
		case check.Err != nil:
			problems++
			fmt.Fprintf(c.out, "%s: cannot be checked: %s\n", strings.ToLower(check.Name), packageName.ReplaceAllString(check.Err.Error(), ""))
		case check.State == web.Failed:
			problems++
			fmt.Fprintln(c.out, line)
		case check.State == web.NotChecked:
			fmt.Fprintf(c.err, "not checked: %s: %s\n", strings.ToLower(check.Name), line)
		}
	}
	if problems > 0 {
		return errors.New(count(problems, "problem") + " found")
	}
	fmt.Fprintln(c.err, "no problems found")
	return nil
}

// diagnose returns the outcomes of the checks. Migrations come first, as for a server: without them
// the other checks mean nothing. An error means that the database cannot be opened.
func (c *console) diagnose(d config.Doctor) (checks []web.Check, err error) {
	first := cmp.Or(d.SystemDatabaseURL, d.Database.DatabaseURL) // the serving role may read no migrations
	db, err := store.OpenExisting(c, first)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	backups, err := openBackups(d.Backup)
	if err != nil {
		return nil, err
	}
	in := &server.Installation{DB: db, SecretFiles: secretFiles(db, d.Database), Backups: backups, Network: server.Network{
		BaseURL: d.BaseURL, CertFile: d.CertFile, KeyFile: d.KeyFile, TrustedProxies: d.TrustedProxies,
	}}
	if in.BaseURL == "" {
		in.BaseURL = urlOf(d.Addr, d.CertFile != "")
	}
	if checks, err = in.CheckMigrations(c); err != nil || checks[0].State != web.Passed {
		return checks, err
	}
	in.KeysError = loadKeys(db, d.Database)
	if db.File == "" {
		serving, err := store.OpenServing(c, d.Database.DatabaseURL, d.SystemDatabaseURL)
		if err != nil {
			return []web.Check{{State: web.Failed, Text: err.Error()}}, nil
		}
		defer func() { err = errors.Join(err, serving.Close()) }()
		if err := serving.UseReplicas(d.ReplicaURLs, slog.New(slog.DiscardHandler)); err != nil {
			return []web.Check{{State: web.Failed, Text: err.Error()}}, nil
		}
		serving.Keys, serving.AuditKey, in.DB = db.Keys, db.AuditKey, serving
	}
	return in.Diagnose(c, 0), nil
}
