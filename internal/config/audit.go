package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/schema"
)

// AuditListFlags are the flags of "chairside audit list".
type AuditListFlags struct {
	Database
	Practice    string `placeholder:"ID" help:"Practice: its id or its short name; \"none\" for events of no practice, such as full exports. Default: the oldest one, or with --patient the only one."`
	Patient     string `placeholder:"ID" help:"Show only writes and reads of this patient's records."`
	User        string `placeholder:"EMAIL" help:"Show only events of this user: the e-mail address, or the id."`
	Application string `placeholder:"ID" help:"Show only events through this application; see \"chairside app list\"."`
	Action      string `placeholder:"ACTION" words:"actions" help:"Show only this action: ${actions}."`
	Day         string `placeholder:"DATE" help:"Show only this day, YYYY-MM-DD, in the practice's time zone."`
	Limit       int    `placeholder:"N" default:"50" help:"Maximum number of events, newest first. Default: ${default}"`
	Format      string `placeholder:"FORMAT" enum:"table,json" default:"table" help:"Output format: table, or json (one object a line, with all details). Default: ${default}"`
}

// Actions returns the actions of the audit log, for messages.
func Actions() string { return strings.Join(schema.AuditActions, ", ") }

// AuditList is the parsed AuditListFlags.
type AuditList struct {
	Database      Database
	Practice      string
	Patient, User int64      // 0 if not given
	Email         string     // of the user; "" if not given
	Application   *uuid.UUID // nil if not given
	Action        string
	Day           civil.Date // zero if not given
	Limit         int
	JSON          bool
}

// Read checks the flags. The error is Mistakes, with everything that is wrong.
func (f AuditListFlags) Read() (AuditList, error) {
	var m Mistakes
	f.Database.check(&m)
	c := AuditList{Database: f.Database, Practice: strings.TrimSpace(f.Practice), Action: f.Action, Limit: max(f.Limit, 1), JSON: f.Format == "json"}
	number := func(flag, text, rule string) int64 {
		if text == "" {
			return 0
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			m.add(flag, "%s", rule)
		}
		return id
	}
	c.Patient = number("patient", f.Patient, "must be an id, which is a number")
	if strings.Contains(f.User, "@") {
		c.Email = f.User
		readEmail(&m, &c.Email)
	} else {
		c.User = number("user", f.User, "must be an e-mail address or an id, which is a number")
	}
	if f.Action != "" && !slices.Contains(schema.AuditActions, f.Action) {
		m.add("action", "must be one of: %s", Actions())
	}
	if f.Application != "" {
		id, err := uuid.Parse(f.Application)
		if err != nil {
			m.add("application", "must be the id of an application")
		}
		c.Application = &id
	}
	c.Day = readDate(&m, "day", f.Day)
	return c, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AuditListFlags) Validate() error {
	_, err := f.Read()
	return err
}

// AuditEvidence are the flags that say what the audit log is compared with.
type AuditEvidence struct {
	PublicKey        []string `placeholder:"KEY" sep:"none" help:"Public key of the audit key, as \"chairside audit key\" prints it, in place of --audit-key. Repeat the flag for earlier keys, which signed older checkpoints and cuts."`
	AuditCheckpoints string   `placeholder:"DIR" help:"Directory of the checkpoints. Without it, a chain that was recomputed or cut off at its end cannot be detected. Needs a key."`
}

// AuditVerifyFlags are the flags of "chairside audit verify".
type AuditVerifyFlags struct {
	Database
	AuditEvidence
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AuditVerifyFlags) Validate() error {
	var m Mistakes
	f.Database.check(&m)
	if f.AuditCheckpoints != "" && f.AuditKey == "" && len(f.PublicKey) == 0 {
		m.add("audit-checkpoints", "needs --audit-key or --public-key")
	}
	return m.err()
}

// minAuditDays is the least number of days that "chairside audit prune" keeps.
const minAuditDays = 30

// AuditPruneFlags are the flags of "chairside audit prune".
type AuditPruneFlags struct {
	Database
	AuditEvidence
	OlderThan       string `placeholder:"DAYS" required:"" help:"Delete the months that ended more than this number of days ago; at least 30."`
	DespiteProblems bool   `help:"Do not verify the log first. The log will not show afterwards what was wrong with the deleted events."`
}

// Read checks the flags and returns the age.
func (f AuditPruneFlags) Read() (time.Duration, error) {
	var m Mistakes
	f.Database.check(&m)
	days, err := strconv.ParseUint(f.OlderThan, 10, 15)
	if err != nil || days < minAuditDays {
		m.add("older-than", "must be a number of days, at least %d", minAuditDays)
	}
	if f.AuditKey == "" {
		m.add("audit-key", "is required: the cut is signed, so that \"chairside audit verify\" finds the rest complete")
	}
	return time.Duration(days) * 24 * time.Hour, m.err()
}

// Validate reports every mistake in the flags; the parser calls it.
func (f AuditPruneFlags) Validate() error {
	_, err := f.Read()
	return err
}
