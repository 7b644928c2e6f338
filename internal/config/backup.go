package config

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"filippo.io/age"
)

// BackupFlags are the flags of "chairside backup".
type BackupFlags struct {
	Database
	Path      string   `arg:"" help:"Path of the copy, which must not exist, or a directory: the copy is then named by the time (UTC)."`
	Keep      string   `placeholder:"N" help:"Keep the newest N copies in the directory and delete the older ones. Default: delete none."`
	EncryptTo []string `placeholder:"RECIPIENT" help:"Encrypt the copy to an age public key (age1…), so that only its secret key opens it. Repeat the flag for each recipient."`
}

// Backup is the parsed BackupFlags.
type Backup struct {
	Path       string
	Keep       int // 0 for all
	Recipients []age.Recipient
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f BackupFlags) Read() (Backup, error) {
	var m Mistakes
	f.Database.check(&m)
	b := Backup{Path: f.Path, Recipients: readRecipients(&m, "encrypt-to", f.EncryptTo)}
	if f.Keep != "" {
		b.Keep = readKeep(&m, "keep", f.Keep)
	}
	return b, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f BackupFlags) Validate() error {
	_, err := f.Read()
	return err
}

// BackupScheduleFlags are the flags that say where and how often a server copies an embedded database.
type BackupScheduleFlags struct {
	BackupDir   string `placeholder:"DIR" help:"Directory for copies of an embedded database, best on another machine's disk. It must exist. Default: make no copies."`
	BackupEvery string `placeholder:"DURATION" default:"1h" help:"How often to make a copy. Default: ${default}"`
}

// ServeBackupFlags are the flags of "chairside serve" for copies of an embedded database.
type ServeBackupFlags struct {
	BackupScheduleFlags
	BackupKeep      string   `placeholder:"N" default:"48" help:"Keep the newest N copies in --backup-dir and delete the older ones. Default: ${default}"`
	BackupEncryptTo []string `placeholder:"RECIPIENT" help:"Encrypt the copies to an age public key (age1…). Repeat the flag for each recipient."`
}

// ServeBackup is the parsed ServeBackupFlags.
type ServeBackup struct {
	Dir        string // "" for no copies
	Every      time.Duration
	Keep       int
	Recipients []age.Recipient
}

// minBackupEvery and maxBackupEvery limit how often a server copies its database.
const minBackupEvery, maxBackupEvery = time.Minute, 31 * 24 * time.Hour

func (f ServeBackupFlags) read(m *Mistakes, d Database) ServeBackup {
	b := f.BackupScheduleFlags.read(m, d)
	b.Recipients, b.Keep = readRecipients(m, "backup-encrypt-to", f.BackupEncryptTo), readKeep(m, "backup-keep", cmp.Or(f.BackupKeep, "48"))
	return b
}

func (f BackupScheduleFlags) read(m *Mistakes, d Database) ServeBackup {
	b := ServeBackup{Dir: f.BackupDir}
	var err error
	if b.Every, err = time.ParseDuration(cmp.Or(f.BackupEvery, "1h")); err != nil || b.Every < minBackupEvery || b.Every > maxBackupEvery {
		m.add("backup-every", "must be a duration from 1m to 744h, such as 1h")
	}
	if b.Dir != "" && !d.Embedded() {
		m.add("backup-dir", "needs an embedded database: for PostgreSQL use pgBackRest")
	}
	return b
}

// maxKeep is the most copies that can be kept.
const maxKeep = 100_000

func readKeep(m *Mistakes, flag, text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n < 1 || n > maxKeep {
		m.add(flag, "must be a number from 1 to %d", maxKeep)
	}
	return int(n)
}

func readRecipients(m *Mistakes, flag string, texts []string) (all []age.Recipient) {
	for _, text := range texts {
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			m.add(flag, "must be an age public key, which begins with age1")
			continue
		}
		all = append(all, r)
	}
	return all
}

// RestoreFlags are the flags of "chairside restore".
type RestoreFlags struct {
	Database
	File     string   `arg:"" help:"Path of the copy."`
	Identity []string `placeholder:"FILE" help:"File with the age secret key of an encrypted copy. Repeat the flag for each file."`
	Force    bool     `help:"Also replace a database that cannot be read. Whether a server still uses it is then unknown: stop every server first."`
}

// Validate reports every mistake in the flags; the parser calls it.
func (f RestoreFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if !f.Embedded() {
		m.add("database-url", "must be sqlite:PATH: restore replaces an embedded database")
	}
	return m.err()
}

// RestoreCheckFlags are the flags of "chairside restore-check".
type RestoreCheckFlags struct {
	URL       string   `arg:"" help:"Database to check: sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME."`
	PublicKey []string `placeholder:"KEY" sep:"none" help:"Public key of the audit key, as \"chairside audit key\" prints it, in place of --audit-key. Repeat the flag for earlier keys."`
	AuditKey  string   `placeholder:"FILE" help:"Audit key, which checks where old events were deleted from the audit log."`
	KeysFlag
}

// Database is the flags of the database to check.
func (f RestoreCheckFlags) Database() Database {
	return Database{DatabaseURL: f.URL, AuditKey: f.AuditKey, KeysFlag: f.KeysFlag}
}

// Validate reports every mistake in the flags; the parser calls it.
func (f RestoreCheckFlags) Validate() error {
	if err := f.Database().Validate(); err != nil {
		return Mistakes{"<url>: " + strings.TrimPrefix(err.Error(), "--database-url: ")}
	}
	return nil
}
