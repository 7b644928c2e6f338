package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/internal/civil"
)

// AuditListFlags are the flags of "chairside audit list".
type AuditListFlags struct {
	Database
	Practice    string `placeholder:"ID" help:"Practice: its id or its short name. Default: the oldest one. \"none\" lists events of no practice, such as exports."`
	Patient     string `placeholder:"ID" help:"Writes and reads of this patient's records."`
	User        string `placeholder:"ID" help:"By the user with this id."`
	Application string `placeholder:"ID" help:"Through the application with this id."`
	Action      string `placeholder:"ACTION" help:"With this action: create, update, delete, read, refuse, sign_in, …"`
	Day         string `placeholder:"DATE" help:"On this day, YYYY-MM-DD, in the practice's time zone."`
	Limit       int    `placeholder:"N" default:"50" help:"Most events to list, the newest first. Default: ${default}"`
	Format      string `placeholder:"FORM" enum:"table,json" default:"table" help:"Output format: table, or json (one object a line, with all details). Default: ${default}"`
}

// AuditList is the parsed AuditListFlags.
type AuditList struct {
	Database      Database
	Practice      string
	Patient, User int64      // 0 if not given
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
	number := func(flag, text string) int64 {
		if text == "" {
			return 0
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			m.add(flag, "must be an id, which is a number")
		}
		return id
	}
	c.Patient, c.User = number("patient", f.Patient), number("user", f.User)
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

// AuditVerifyFlags are the flags of "chairside audit verify".
type AuditVerifyFlags struct {
	Database
	PublicKey        []string `placeholder:"KEY" sep:"none" help:"Public key of the audit key, as \"chairside audit key\" prints it, in place of --audit-key. Repeat it for earlier keys, which signed older checkpoints and cuts."`
	AuditCheckpoints string   `placeholder:"DIR" help:"Directory of the checkpoints. Without it, a chain that was recomputed or cut off at its end is not found. Needs a key."`
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
	OlderThan string `placeholder:"DAYS" required:"" help:"Delete the months that ended more than this number of days ago; at least 30."`
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
