package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/reportschedule"
	"chairside/internal/clock"
	"chairside/internal/config"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/report/schedule"
	"chairside/internal/store"
)

type scheduleCommands struct {
	Add    scheduleAdd    `cmd:"" help:"Add a schedule."`
	List   scheduleList   `cmd:"" help:"List schedules with their state."`
	Remove scheduleRemove `cmd:"" help:"Remove a schedule. Its files stay."`
}

type scheduleAdd struct {
	config.ReportScheduleFlags
	Name string `arg:"" words:"reports" help:"Name of the report; see \"chairside report list\"."`
}

// Help is the text of --help.
func (scheduleAdd) Help() string {
	return `Prints the id. Running servers run the report each week, one of them for each due time, and make up the last run that they missed. The file is named by the practice, the report and its period. A run that fails is tried again; "chairside report schedule list" and the status page have the reason. The schedule stops when its user is disabled or may no longer see the report, and when the mail server has refused its mails for good at three due times.`
}

// Validate reports every mistake in the command; the parser calls it.
func (s scheduleAdd) Validate() error {
	var unknown, every error
	if s.Name != "" { // the parser reports a missing name
		_, unknown = report.Find(s.Name)
	}
	if s.Every != "" { // likewise
		if _, err := schedule.ParseEvery(s.Every); err != nil {
			every = config.Mistakes{"--every: " + err.Error()}
		}
	}
	_, err := s.Read()
	return errors.Join(unknown, every, err)
}

// Run adds the schedule and prints its id.
func (s *scheduleAdd) Run(c *console) error {
	flags, err := s.Read()
	if err != nil {
		return err
	}
	chosen, err := report.Find(s.Name)
	if err != nil {
		return err
	}
	every, err := schedule.ParseEvery(flags.Every)
	if err != nil {
		return err
	}
	var added *ent.ReportSchedule
	err = c.withDatabase(flags.Database, func(db *store.DB) error {
		return db.Tx(c, func(tx *ent.Client) error {
			u, err := findUser(c, tx, flags.User)
			if err != nil {
				return err
			}
			if !u.Active {
				return errDisabled
			}
			p, err := tx.Practice.Get(principal.AsSystem(c), u.PracticeID)
			if err != nil {
				return err
			}
			zone, err := time.LoadLocation(p.TimeZone)
			if err != nil {
				return fmt.Errorf("load the practice's time zone: %w", err)
			}
			ctx := principal.With(c, &principal.Principal{PracticeID: p.ID, UserID: u.ID, Zone: zone, Country: p.Country})
			added, err = schedule.Create(ctx, tx, u, schedule.Draft{
				Report: chosen, Every: every, Period: schedule.Period(flags.Period), Format: render.Format(flags.Format), Folder: flags.To, Address: flags.Mail,
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	if flags.To != "" {
		if info, err := os.Stat(flags.To); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			fmt.Fprintf(c.err, "%s is not a directory on this machine: the server needs it at each run\n", flags.To)
		}
	}
	_, err = fmt.Fprintln(c.out, added.ID)
	return err
}

type scheduleList struct {
	config.Database
	listing
}

// Run prints the schedules of all practices, one per line, with the times of each practice's zone.
func (s *scheduleList) Run(c *console) error {
	return c.withDatabase(s.Database, func(db *store.DB) error {
		rows, err := db.Ent.ReportSchedule.Query().WithPractice().WithUser().Order(reportschedule.ByID()).All(principal.AsSystem(c))
		if err != nil {
			return err
		}
		var cells [][]any
		for _, row := range rows {
			to := row.Folder
			if to == "" {
				to = row.Address
			}
			zone, err := time.LoadLocation(row.Edges.Practice.TimeZone)
			if err != nil {
				return fmt.Errorf("load the practice's time zone: %w", err)
			}
			now := clock.Now(c)
			cells = append(cells, []any{
				row.ID, row.Edges.Practice.Slug, row.Edges.User.Email, row.Report, schedule.EveryOf(row).String(), row.Period, row.Format,
				zonedTime{row.LastRunAt, zone}, zonedTime{schedule.NextAttempt(row, row.Edges.Practice, now), zone}, to, schedule.State(row, row.Edges.Practice, now),
			})
		}
		return s.print(c, []string{"ID", "PRACTICE", "USER", "REPORT", "EVERY", "PERIOD", "FORMAT", "LAST RUN", "NEXT RUN", "TO", "STATE"}, cells)
	})
}

type scheduleRemove struct {
	config.Database
	ID int64 `arg:"" help:"The schedule's id; see \"chairside report schedule list\"."`
}

// Run removes the schedule.
func (s *scheduleRemove) Run(c *console) error {
	return c.withDatabase(s.Database, func(db *store.DB) error {
		row, err := db.Ent.ReportSchedule.Get(principal.AsSystem(c), s.ID)
		if ent.IsNotFound(err) {
			return errors.New("no such schedule; see \"chairside report schedule list\"")
		}
		if err != nil {
			return err
		}
		ctx := principal.With(c, &principal.Principal{PracticeID: row.PracticeID})
		return db.Tx(ctx, func(tx *ent.Client) error { return tx.ReportSchedule.DeleteOne(row).Exec(ctx) })
	})
}

// openMail returns the mail server of the flags, or nil for none.
func openMail(flags *config.SMTP) (*schedule.Mail, error) {
	if flags == nil {
		return nil, nil
	}
	m := &schedule.Mail{Host: flags.Host, Port: flags.Port, From: flags.From, User: flags.User}
	if flags.PasswordFile == "" {
		return m, nil
	}
	content, err := os.ReadFile(flags.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("read the password of the mail server: %w", err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	if m.Password = strings.TrimSuffix(first, "\r"); m.Password == "" {
		return nil, config.Mistakes{"--smtp-password-file: the first line of " + flags.PasswordFile + " is empty"}
	}
	return m, nil
}
