package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/auditevent"
	"chairside/internal/audit"
	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
)

type auditCommands struct {
	Key    auditKey    `cmd:"" help:"Create an audit key, or print an existing key's public key."`
	Verify auditVerify `cmd:"" help:"Check that the audit log was not altered."`
	List   auditList   `cmd:"" help:"List events: who changed or read what, and who signed in."`
	Prune  auditPrune  `cmd:"" help:"Delete old events, and sign where the log now begins."`
}

type auditKey struct {
	File string `arg:"" help:"File of the key. If it exists, its public key is printed."`
}

// Help is the text of --help.
func (auditKey) Help() string {
	return `The key hashes sensitive values in the audit log and signs checkpoints. Only its owner can read the file. Keep it outside the database and its backups, and keep a copy: with another key the hashes of old and new values cannot be compared, and old checkpoints need the old public key.

Prints the public key, which verifies signatures and is not secret.`
}

// Run creates the key, or reads it, and prints its public key.
func (a *auditKey) Run(c *console) error {
	key, err := audit.CreateKey(a.File)
	if err != nil {
		existing, failed := audit.LoadKey(a.File)
		switch {
		case failed != nil && errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%s exists and holds no audit key", a.File)
		case failed != nil:
			return err
		}
		key = existing
	}
	fmt.Fprintln(c.out, key.Public())
	return nil
}

type auditVerify struct{ config.AuditVerifyFlags }

// Help is the text of --help.
func (auditVerify) Help() string {
	return `Compares every event with the block that sealed it, every block with the one before, and both with the signed checkpoints. Prints each problem with its place: practice, block, event. Safe while the server runs; it changes nothing.

The exit status is 0 if there is no problem, else 1. Events of the last few seconds are not sealed yet; the command prints their number.`
}

// verifyOptions returns what the log is compared with.
func verifyOptions(db *store.DB, e config.AuditEvidence) (chain.VerifyOptions, error) {
	o := chain.VerifyOptions{Checkpoints: e.AuditCheckpoints}
	for _, text := range e.PublicKey {
		key, err := audit.ParsePublicKey(text)
		if err != nil {
			return o, err
		}
		o.Public = append(o.Public, key)
	}
	if db.AuditKey != nil {
		o.Public = append(o.Public, db.AuditKey.Public())
	}
	return o, nil
}

// Run verifies the log and prints what it found.
func (a *auditVerify) Run(c *console) error {
	return c.withDatabase(a.Database, func(db *store.DB) error {
		o, err := verifyOptions(db, a.AuditEvidence)
		if err != nil {
			return err
		}
		r, err := chain.Verify(c, db, o)
		if err != nil {
			return err
		}
		for _, p := range r.Problems {
			fmt.Fprintln(c.out, p)
		}
		if r.More {
			fmt.Fprintln(c.out, "… and further problems")
		}
		checkpoints, pruned := "no checkpoints", "nothing pruned"
		if r.Checkpoints > 0 {
			checkpoints = count(r.Checkpoints, "checkpoint")
		}
		if r.Cuts > 0 {
			pruned = "old events pruned"
		}
		fmt.Fprintf(c.out, "%s, %s, %s, %s, %s\n", count(r.Entries, "event"), count(r.Blocks, "block"), count(r.Practices, "practice"), checkpoints, pruned)
		for _, practice := range r.Deleted {
			fmt.Fprintf(c.out, "practice %s is deleted, or is being deleted: its events were not compared\n", practice)
		}
		if len(r.Problems) == 0 {
			fmt.Fprintln(c.out, "no problems found")
		}
		if r.Unsealed > 0 {
			fmt.Fprintf(c.out, "not sealed yet: %s, the oldest of %s; a running server seals them\n", count(r.Unsealed, "event"), r.UnsealedSince.UTC().Format(time.RFC3339))
		}
		if r.Unsigned > 0 {
			fmt.Fprintf(c.out, "in no checkpoint yet: %s, the oldest sealed at %s; a running server with --audit-checkpoints writes one every minute\n", count(r.Unsigned, "block"), r.UnsignedSince.UTC().Format(time.RFC3339))
		}
		if a.AuditCheckpoints == "" {
			fmt.Fprintln(c.out, "without checkpoints (--audit-checkpoints), a chain that was recomputed or cut off at its end cannot be detected")
		}
		if len(r.Problems) > 0 {
			return chain.ErrProblems
		}
		return nil
	})
}

type auditList struct{ config.AuditListFlags }

// Help is the text of --help.
func (auditList) Help() string {
	return "Who has seen a patient:  chairside audit list --practice bright --patient 7 --action read"
}

// noPractice names the events of no practice.
const noPractice = "none"

// Run prints events, newest first.
func (a *auditList) Run(c *console) error {
	flags, err := a.Read()
	if err != nil {
		return err
	}
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		practice, zone := uuid.Nil, time.UTC
		if flags.Practice != noPractice {
			find := c.shownPractice
			if flags.Patient != 0 { // in another practice the list is empty, which looks like an answer
				find = c.practice
			}
			p, err := find(db, flags.Practice)
			if err != nil {
				return err
			}
			practice = p.ID
			if zone, err = time.LoadLocation(p.TimeZone); err != nil {
				return fmt.Errorf("load the practice's time zone: %w", err)
			}
		}
		q := db.Ent.AuditEvent.Query().Where(auditevent.PracticeID(practice)).Order(ent.Desc(auditevent.FieldID)).Limit(flags.Limit)
		if flags.Patient != 0 {
			q.Where(trail.AboutPatient(practice, flags.Patient))
		}
		if flags.Email != "" {
			u, err := findUser(c, db.Ent, flags.Email)
			if err != nil {
				return err
			}
			flags.User = u.ID
		}
		if flags.User != 0 {
			q.Where(auditevent.UserID(flags.User))
		}
		if flags.Application != nil {
			q.Where(auditevent.ApplicationID(*flags.Application))
		}
		if flags.Action != "" {
			q.Where(auditevent.Action(flags.Action))
		}
		if !flags.Day.IsZero() {
			q.Where(trail.OnDay(flags.Day, zone))
		}
		events, err := q.All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		if flags.JSON {
			for _, e := range events {
				if err := printJSON(c.out, e); err != nil {
					return err
				}
			}
			return nil
		}
		table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tTIME\tACTION\tRECORD\tPATIENT\tUSER\tREQUEST\tCHANGED")
		for _, e := range events {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.ID, e.At.In(zone).Format(time.RFC3339), e.Action, recordOf(e), optionalID(e.PatientID), optionalID(e.UserID), textOr(e.RequestID), cmp.Or(strings.Join(e.Fields, " "), "-"))
		}
		return table.Flush()
	})
}

// recordOf returns the record of an event: "Patient 7".
func recordOf(e *ent.AuditEvent) string {
	resource, id := "", ""
	if e.Resource != nil {
		resource = *e.Resource
	}
	if e.RecordID != nil {
		id = *e.RecordID
	}
	return cmp.Or(strings.TrimSpace(resource+" "+id), "-")
}

func optionalID(id *int64) string {
	if id == nil {
		return "-"
	}
	return strconv.FormatInt(*id, 10)
}

func textOr(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

type auditPrune struct {
	config.AuditPruneFlags
	confirmation
}

// Help is the text of --help.
func (auditPrune) Help() string {
	return `Deletes the oldest blocks of each practice with their events, whole months at a time (UTC), and signs each cut with the audit key, so that "chairside audit verify" finds the rest complete. Keeps the last block of each practice. This cannot be undone: keep a backup for as long as the law requires.

Verifies the log first, with the checkpoints if you name their directory, and deletes nothing if "chairside audit verify" would find a problem: the deleted events may be the evidence.`
}

// Validate reports every mistake in the command; the parser calls it.
func (a auditPrune) Validate() error { return a.AuditPruneFlags.Validate() }

// Run deletes the events and prints their number.
func (a *auditPrune) Run(c *console) error {
	age, err := a.Read()
	if err != nil {
		return err
	}
	return c.withDatabase(a.Database, func(db *store.DB) error {
		if err := a.confirmDeletion(c, "This deletes audit events for good."); err != nil {
			return err
		}
		options, err := verifyOptions(db, a.AuditEvidence)
		if err != nil {
			return err
		}
		verify := &options
		if a.DespiteProblems {
			verify = nil
		}
		n, err := chain.Prune(c, db, db.AuditKey, clock.Now(c).Add(-age), verify)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "deleted %s\n", count(n, "event"))
		_, err = migrate.AddMonths(c, db)
		return err
	})
}

// audited writes an event of the command line.
func (c *console) audited(ctx context.Context, db *store.DB, e trail.Entry) error {
	e.At = clock.Now(ctx)
	if p, err := principal.From(ctx); err == nil {
		e.Practice = p.PracticeID
	}
	if err := trail.Write(ctx, db, e); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}
