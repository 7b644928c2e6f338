package schedule

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"chairside/ent"
	"chairside/ent/reportschedule"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
	"chairside/internal/store"
)

// ErrRights is an error of Create.
var ErrRights = errors.New("the user's role does not allow this report")

// Draft is a new schedule. The database refuses one with both destinations, or none.
type Draft struct {
	Report  *report.Report
	Every   Every
	Period  Period
	Format  render.Format
	Folder  string // "" to mail the files
	Address string // "" to store the files
}

// Create adds a schedule with the rights of a user. ctx has a principal of the user's practice, with its zone.
func Create(ctx context.Context, tx *ent.Client, u *ent.User, d Draft) (*ent.ReportSchedule, error) {
	if !d.Report.OpenTo(u.Role.PermissionLevel()) {
		return nil, ErrRights
	}
	if d.Folder != "" {
		d.Folder = filepath.Clean(d.Folder)
	}
	now := clock.Now(ctx)
	due := d.Every.Next(now, principal.Must(ctx).Zone)
	return tx.ReportSchedule.Create().SetUserID(u.ID).SetReport(d.Report.Name).
		SetWeekday(int(d.Every.Weekday)).SetMinute(d.Every.Minute).SetPeriod(string(d.Period)).SetFormat(string(d.Format)).
		SetFolder(d.Folder).SetAddress(d.Address).SetCreatedAt(now).SetDueAt(due).SetAttemptAt(due).SetLeasedUntil(now).Save(ctx)
}

// EveryOf returns when a schedule runs.
func EveryOf(row *ent.ReportSchedule) Every { return Every{time.Weekday(row.Weekday), row.Minute} }

// lateAfter is how long after its time an attempt that no server has made counts as late.
const lateAfter = 10 * time.Minute

// closed reports whether a practice is closed: its schedules do not run, and are deleted with its other rows.
func closed(p *ent.Practice, now time.Time) bool { return p.ClosesAt != nil && !p.ClosesAt.After(now) }

// NextAttempt returns when a schedule of the practice p is tried next, or nil if it is stopped or p is closed.
func NextAttempt(row *ent.ReportSchedule, p *ent.Practice, now time.Time) *time.Time {
	if row.StoppedAt != nil || closed(p, now) {
		return nil
	}
	return &row.AttemptAt
}

// State is the state of a schedule in words. p is its practice.
func State(row *ent.ReportSchedule, p *ent.Practice, now time.Time) string {
	switch {
	case row.StoppedAt != nil:
		return "stopped: " + row.StoppedReason
	case closed(p, now):
		return "ended: its practice is closed"
	case row.FailingSince != nil:
		return "fails: " + row.Failure
	case row.AttemptAt.Before(now.Add(-lateAfter)) && row.Address != "":
		return "late: no server with --smtp-addr has run it"
	case row.AttemptAt.Before(now.Add(-lateAfter)):
		return "late: no server has run it"
	}
	return "active"
}

// troublesShown is the most schedules that Troubles describes.
const troublesShown = 5

// Troubles describes the first schedules of the caller's practice that fail, are late or are stopped, and returns since
// when one of them is. The text is empty if there are none.
func Troubles(ctx context.Context, db *store.DB) (text string, since time.Time, err error) {
	now := clock.Now(ctx)
	rows, err := db.Ent.ReportSchedule.Query().
		Where(reportschedule.Or(reportschedule.StoppedAtNotNil(), reportschedule.FailingSinceNotNil(), reportschedule.AttemptAtLT(now.Add(-lateAfter)))).
		WithPractice().Order(reportschedule.ByID()).Limit(troublesShown + 1).All(ctx)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("schedule: read the state: %w", err)
	}
	if len(rows) > 0 && closed(rows[0].Edges.Practice, now) {
		return "", time.Time{}, nil
	}
	var all []string
	for i, row := range rows {
		at := row.AttemptAt
		switch {
		case row.StoppedAt != nil:
			at = *row.StoppedAt
		case row.FailingSince != nil:
			at = *row.FailingSince
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
		if i == troublesShown {
			all = append(all, "and more")
			break
		}
		state := State(row, row.Edges.Practice, now)
		if row.StoppedAt != nil || row.FailingSince == nil {
			state = "is " + state // stopped or late
		}
		all = append(all, fmt.Sprintf("schedule %d (%s) %s", row.ID, row.Report, state))
	}
	return strings.Join(all, "; "), since, nil
}
