package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"chairside/ent"
	"chairside/ent/patient"
	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/subject"
)

type subjectCommands struct {
	Export  subjectExport  `cmd:"" help:"Export everything that the database holds about a patient."`
	Erase   subjectErase   `cmd:"" help:"Erase a patient whose retention period has ended."`
	Hold    subjectHold    `cmd:"" help:"Place a legal hold on a patient's record."`
	Release subjectRelease `cmd:"" help:"End the legal hold on a patient's record."`
}

type subjectExport struct {
	config.SubjectFlags
	Patient int64 `arg:"" help:"The patient's id."`
}

// Help is the text of --help.
func (subjectExport) Help() string {
	return "Answers a patient's request for access to their data (GDPR articles 15 and 20). Safe while the server runs. Read the file before you hand it over: notes may mention other people. Only its owner can read the file that --output writes."
}

// Run writes the file of the patient.
func (e *subjectExport) Run(c *console) error {
	return c.withDatabase(e.Database, func(db *store.DB) error {
		ctx, err := c.actForPractice(db, e.Practice)
		if err != nil {
			return err
		}
		file, err := subject.Read(ctx, db, e.Patient)
		if err != nil {
			return noPatient(err, e.Patient)
		}
		if err := c.audited(ctx, db, trail.Entry{Action: "export", Record: fmt.Sprintf("patient-%d.%s", e.Patient, e.Format), Patient: e.Patient}); err != nil {
			return err
		}
		write := map[string]func(io.Writer) error{"html": file.WriteHTML, "json": file.WriteJSON, "fhir": file.WriteFHIR}[e.Format]
		if e.Output == "" {
			return write(c.out)
		}
		if err := replaceFile(e.Output, write); err != nil {
			return err
		}
		fmt.Fprintf(c.err, "wrote the data of patient %d to %s\n", e.Patient, e.Output)
		return nil
	})
}

// noPatient explains ent's error for a row that does not exist; it returns other errors as they are.
func noPatient(err error, id int64) error {
	if ent.IsNotFound(err) {
		return fmt.Errorf("the practice has no patient with id %d", id)
	}
	return err
}

// subjectOf is the patient of a command.
type subjectOf struct {
	Patient int64 `arg:"" help:"The patient's id."`
}

// withPatient runs work as the practice of a patient.
func (c *console) withPatient(flags config.SubjectDatabase, id int64, work func(ctx context.Context, db *store.DB) error) error {
	return c.withDatabase(flags.Database, func(db *store.DB) error {
		ctx, err := c.actForPractice(db, flags.Practice)
		if err != nil {
			return err
		}
		return noPatient(work(ctx, db), id)
	})
}

type subjectErase struct {
	config.SubjectDatabase
	confirmation
	subjectOf
	DryRun bool `help:"Print who the patient is, and what would be removed, blanked and kept, without changing anything."`
}

// Help is the text of --help.
func (subjectErase) Help() string {
	return `Removes the patient's appointments, notes, treatment and everything else about the person, and blanks the name and all texts in what stays: the amounts and dates of invoices, payments, the account and NHS claims. This cannot be undone. Prints what was removed, what was blanked, and what stays and why.

Refuses while the retention period (see "chairside practice retention") or a legal hold keeps the record, and prints the entry and the day on which the period ends. Safe while the server runs. On PostgreSQL, run the command as the tables' owner.

Of an embedded database it also empties the write-ahead log. If another process keeps it from that, it says so: run it again later. Managers see what an erasure would do on the page /settings/patient-data, too.`
}

// Run erases the patient, or says what that would do.
func (e *subjectErase) Run(c *console) error {
	return c.withPatient(e.SubjectDatabase, e.Patient, func(ctx context.Context, db *store.DB) error {
		if e.DryRun {
			would, err := subject.Check(ctx, db, e.Patient)
			if would != nil {
				if err := c.sawPatient(ctx, db, e.Patient); err != nil {
					return err
				}
				fmt.Fprintf(c.out, "Patient %d: %s\n", e.Patient, would.Person)
				if err := printErasure(c, would, "Would be"); err != nil {
					return err
				}
			}
			return err
		}
		person, erased, err := subject.Person(ctx, db, e.Patient)
		if err != nil {
			return err
		}
		if !erased {
			if err := c.sawPatient(ctx, db, e.Patient); err != nil {
				return err
			}
			if err := e.confirmDeletion(c, fmt.Sprintf("This erases patient %d, %s, for good.", e.Patient, person)); err != nil {
				return err
			}
		}
		done, err := subject.Erase(ctx, db, e.Patient)
		if err != nil && !errors.Is(err, store.ErrNotScrubbed) {
			return err
		}
		if done.Keeping.ErasedAt != nil {
			c.printErasedBefore(db, done.Keeping, err == nil)
			return err
		}
		return errors.Join(printErasure(c, done, "Was"), err)
	})
}

// sawPatient writes to the audit log that a command is about to show who a patient is.
func (c *console) sawPatient(ctx context.Context, db *store.DB, id int64) error {
	_, log := audit.With(ctx)
	log.Note(patient.Table, id)
	e := trail.Entry{At: clock.Now(ctx), Operation: "subject erase"}
	e.Practice = principal.Must(ctx).PracticeID
	if err := trail.WriteRead(ctx, db, e, log); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

// printErasedBefore says that there was nothing left to erase, and what was done again.
func (c *console) printErasedBefore(db *store.DB, k subject.Keeping, scrubbed bool) {
	again := ""
	if db.File != "" && scrubbed {
		again = "; the database's write-ahead log was emptied again"
	}
	fmt.Fprintf(c.out, "patient %d was already erased on %s%s\n", k.Patient, k.ErasedOn(), again)
}

// printErasure prints what was removed, what was blanked, and what stays and why.
func printErasure(c *console, e *subject.Erasure, verb string) error {
	parts := []struct {
		title string
		rows  []subject.Rows
	}{{verb + " removed", e.Removed}, {verb + " blanked", e.Blanked}, {"Stays", e.Stays}}
	var rows [][]string
	for _, part := range parts {
		for _, r := range part.rows {
			rows = append(rows, []string{part.title, r.Table, strconv.FormatInt(r.Rows, 10), r.Note})
		}
	}
	if err := printWrapped(c.out, rows); err != nil || len(e.Stays) == 0 {
		return err
	}
	_, err := fmt.Fprintf(c.out, "Not reached, and yours to deal with:\n- %s\n", strings.Join(subject.NotReached, "\n- "))
	return err
}

type subjectHold struct {
	config.HoldFlags
	subjectOf
}

// Help is the text of --help.
func (subjectHold) Help() string {
	return "For a claim, a complaint or an investigation: the patient cannot be erased until \"chairside subject release\", even after the retention period."
}

// Run starts the hold.
func (h *subjectHold) Run(c *console) error {
	return c.withPatient(h.SubjectDatabase, h.Patient, func(ctx context.Context, db *store.DB) error {
		if err := subject.Hold(ctx, db, h.Patient, h.Reason); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "patient %d is on legal hold; \"chairside subject release\" ends it\n", h.Patient)
		return nil
	})
}

type subjectRelease struct {
	config.SubjectDatabase
	confirmation
	subjectOf
}

// Run ends the hold.
func (r *subjectRelease) Run(c *console) error {
	return c.withPatient(r.SubjectDatabase, r.Patient, func(ctx context.Context, db *store.DB) error {
		if err := r.confirm(c, fmt.Sprintf("This ends the legal hold on patient %d.", r.Patient)); err != nil {
			return err
		}
		if err := subject.Release(ctx, db, r.Patient); err != nil {
			return err
		}
		fmt.Fprintf(c.out, "patient %d is no longer on legal hold\n", r.Patient)
		return nil
	})
}
