package schedule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/internal/audit"
	"chairside/internal/audit/trail"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
)

// runOperation is the operation of the events of the audit log about scheduled reports.
const runOperation = "runReportSchedule"

// stopError is why a schedule stops: another attempt would not help. It is a phrase such as "its user is disabled".
type stopError string

// Error implements error.
func (e stopError) Error() string { return string(e) }

// failure is why an attempt failed, in words for the practice, without addresses. The log has the cause too,
// unless it is nil because it may hold addresses.
type failure struct {
	words string
	cause error
}

// Error implements error.
func (f *failure) Error() string { return f.words }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// run is what an attempt delivers.
type run struct {
	row      *ent.ReportSchedule
	practice *ent.Practice
	zone     *time.Location
	report   *report.Report
	due      time.Time
}

// attempt runs a schedule whose lease this process has, and records the outcome.
func (r *Runner) attempt(ctx context.Context, d dueSchedule) error {
	x, ctx, err := r.prepare(ctx, d)
	if err == nil {
		err = r.deliver(ctx, x)
	}
	if r.between != nil {
		r.between()
	}
	return r.settle(ctx, d, x, err)
}

// prepare reads the schedule with the rights that its user has now, and returns a context that has them.
func (r *Runner) prepare(ctx context.Context, d dueSchedule) (*run, context.Context, error) {
	ours := principal.With(ctx, &principal.Principal{PracticeID: d.practice})
	unreadable := func(err error) (*run, context.Context, error) {
		return nil, ctx, &failure{"the schedule cannot be read", err}
	}
	row, err := r.db.Ent.ReportSchedule.Get(ours, d.id)
	if err != nil {
		return unreadable(err)
	}
	practice, err := r.db.Ent.Practice.Get(ours, d.practice)
	if err != nil {
		return unreadable(err)
	}
	zone, err := time.LoadLocation(practice.TimeZone)
	if err != nil {
		return unreadable(err)
	}
	u, err := r.db.Ent.User.Get(ours, row.UserID)
	if err != nil {
		return unreadable(err)
	}
	found, err := report.Find(row.Report)
	switch {
	case err != nil:
		return nil, ctx, stopError("this version has no such report")
	case !u.Active:
		return nil, ctx, stopError("its user is disabled")
	case !found.OpenTo(u.Role.PermissionLevel()):
		return nil, ctx, stopError("its user may no longer see the report")
	}
	x := &run{row: row, practice: practice, zone: zone, report: found, due: row.DueAt}
	if latest := EveryOf(row).Latest(clock.Now(ctx), zone); latest.After(x.due) { // the times between are not made up
		x.due = latest
	}
	return x, principal.With(ctx, &principal.Principal{PracticeID: d.practice, UserID: u.ID, Zone: zone, Country: practice.Country, UserSiteID: u.SiteID}), nil
}

// deliver runs the report, and stores or mails its file.
func (r *Runner) deliver(ctx context.Context, x *run) error {
	if x.row.Folder == "" {
		return guarded(func() error { return r.mailReport(ctx, x) })
	}
	done := make(chan error, 1)
	go func() { done <- guarded(func() error { return r.storeReport(ctx, x) }) }()
	select {
	case err := <-done:
		return err
	case <-time.After(folderTime): // the file may still appear; the next attempt replaces it
		return &failure{"the directory does not respond", nil}
	}
}

// guarded makes a report that panics a failure like any other: it must not end the server, and the next one.
func guarded(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &failure{"the report cannot be made", fmt.Errorf("panic: %v\n%s", value, debug.Stack())}
		}
	}()
	return do()
}

// storeReport runs the report and stores its file.
func (r *Runner) storeReport(ctx context.Context, x *run) error {
	return storeFile(x.row.Folder, fmt.Sprintf("%s-%d", x.practice.ID, x.row.ID), func(w io.Writer) (name string, err error) {
		a, err := r.ask(ctx, x)
		if err != nil {
			return "", err
		}
		return x.fileName(a), write(w, a, x)
	})
}

// mailReport runs the report and mails its file.
func (r *Runner) mailReport(ctx context.Context, x *run) error {
	a, err := r.ask(ctx, x)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := write(&content, a, x); err != nil {
		return err
	}
	mailing, cancel := context.WithTimeout(ctx, r.mailTime)
	defer cancel()
	return r.mail.send(mailing, &message{
		to: x.row.Address, subject: a.Title + ": " + a.Scope(), text: x.text(a), name: x.fileName(a), format: render.Format(x.row.Format), content: content.Bytes(),
		id: fmt.Sprintf("report-%d-%d.%s", x.row.ID, x.due.Unix(), x.practice.ID), at: clock.Now(ctx),
	})
}

// ask runs the report. The run is in the audit log before anything is delivered, because a crash in between would lose
// the record of it; the patients read follow within a second, and the log has them.
func (r *Runner) ask(ctx context.Context, x *run) (a *report.Answer, err error) {
	reading, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	reading, read := audit.With(reading)
	f := report.Filter{Keys: r.db.Keys}
	f.From, f.To = Period(x.row.Period).Days(x.report, civil.Of(x.due.In(x.zone)))
	once := principal.WithSession(reading, uuid.New()) // replicas know their clients: this one has written nothing
	err = r.db.ViewForReport(once, func(client *ent.Client) (err error) {
		a, err = x.report.Ask(reading, client, f)
		return err
	})
	if err != nil {
		return nil, &failure{"the report cannot be made", err}
	}
	entry := trail.Entry{Who: trail.Caller(ctx, principal.Must(ctx)), At: clock.Now(ctx), Operation: runOperation}
	if !read.Empty() {
		request := fmt.Sprintf("report-schedule-%d", x.row.ID)
		r.logger.LogAttrs(ctx, slog.LevelInfo, "patient data read", slog.String("practice_id", x.practice.ID.String()),
			slog.Int64("user_id", x.row.UserID), slog.Int64("schedule_id", x.row.ID), slog.Any("records", read))
		reads := entry
		reads.Request = request
		r.trail.Read(reads, read)
	}
	entry.Action, entry.Record = "report", x.report.Name
	entry.Details = map[string]any{"schedule_id": x.row.ID, "from": f.From.String(), "to": f.To.String(), "format": x.row.Format}
	if f.From.IsZero() || x.report.AsAt {
		delete(entry.Details, "from")
	}
	if err := trail.Write(reading, r.db, entry); err != nil {
		return nil, &failure{"the audit log cannot be written", err}
	}
	return a, nil
}

// write writes the file of a report.
func write(w io.Writer, a *report.Answer, x *run) error {
	if err := render.Write(w, a, render.Format(x.row.Format), render.Options{}); err != nil {
		return &failure{"the file cannot be written", withoutPath(err)}
	}
	return nil
}

// fileName names the practice, the report and its period. Practices may share a directory.
func (x *run) fileName(a *report.Answer) string {
	return x.practice.Slug + "-" + a.FileName("") + "." + x.row.Format
}

// text is the text of a mail. It names no patient.
func (x *run) text(a *report.Answer) string {
	every := EveryOf(x.row)
	return fmt.Sprintf("The report “%s” of %s is attached: %s.\n\nChairside sends it every %s at %s. To end this, remove schedule %d.\n",
		a.Title, a.Practice, a.Scope(), every.Weekday, every.clock(), x.row.ID)
}

// settle logs the outcome of an attempt, and records it unless the lease has ended and another process has claimed the
// schedule since.
func (r *Runner) settle(ctx context.Context, d dueSchedule, x *run, outcome error) error {
	stopping := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime) // it is recorded though the server ends
	defer cancel()
	at, free := clock.Now(ctx), now()
	var stop stopError
	set, args := "", []any{d.id, d.lease, free}
	refusals := x.refusals(outcome)
	if refusals >= maxRefusals {
		outcome = stopError(fmt.Sprintf("%v at %d due times", outcome, refusals))
	}
	switch {
	case outcome == nil:
		next := EveryOf(x.row).Next(later(x.due, at), x.zone)
		set, args = "due_at = $4, attempt_at = $4, failures = 0, refusals = 0, failing_since = NULL, failure = '', last_run_at = $5", append(args, next, at)
		r.logger.Info("scheduled report delivered", slog.String("practice_id", d.practice.String()), slog.Int64("schedule_id", d.id), slog.String("report", x.report.Name))
	case stopping: // the attempt was cut short, which is no failure
	case errors.As(outcome, &stop):
		set, args = "failures = 0, failing_since = NULL, failure = '', stopped_at = $4, stopped_reason = $5", append(args, at, string(stop))
		r.logger.Warn("a scheduled report is stopped: "+string(stop), slog.String("practice_id", d.practice.String()), slog.Int64("schedule_id", d.id))
	default:
		next := at.Add(backOff[min(d.failures, len(backOff)-1)])
		set = "failures = failures + 1, attempt_at = $4, failing_since = COALESCE(failing_since, $5), failure = $6"
		if refusals > 0 {
			set, next = set+", refusals = $7, due_at = $8", at.Add(refusedPause)
			if due := EveryOf(x.row).Next(at, x.zone); due.Before(next) {
				next = due
			}
		}
		if args = append(args, next, at, outcome.Error()); refusals > 0 {
			args = append(args, refusals, x.due)
		}
		attributes := []any{slog.String("practice_id", d.practice.String()), slog.Int64("schedule_id", d.id), slog.String("reason", outcome.Error())}
		if cause := errors.Unwrap(outcome); cause != nil {
			attributes = append(attributes, slog.Any("error", cause))
		}
		r.logger.Warn("a scheduled report failed; it is tried again", attributes...)
	}
	columns := []string{"leased_until = $3"}
	if set != "" {
		columns = append(columns, set)
	}
	if err := r.record(ctx, d, stop, at, "UPDATE report_schedules SET "+strings.Join(columns, ", ")+" WHERE id = $1 AND lease = $2", args); err != nil {
		return fmt.Errorf("schedule: record an attempt: %w", err)
	}
	return nil
}

// record runs the statement that settles an attempt. A schedule that stops has an entry in the audit log.
func (r *Runner) record(ctx context.Context, d dueSchedule, stop stopError, at time.Time, statement string, args []any) error {
	tx, err := r.db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	n, err := affected(tx.ExecContext(ctx, statement, args...))
	if err != nil {
		return err
	}
	if stop != "" && n > 0 {
		err := trail.WriteIn(ctx, r.db, tx, trail.Entry{
			Who: trail.Who{Practice: d.practice}, At: at, Action: "update", Resource: ent.TypeReportSchedule, Record: strconv.FormatInt(d.id, 10), Operation: runOperation,
			Details: map[string]any{"new": map[string]any{"stopped_reason": string(stop)}},
		})
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// refusals returns the number of due times for which mails were refused for good since the last success, with that
// of an attempt; 0 if its outcome is another.
func (x *run) refusals(outcome error) int {
	switch {
	case !errors.As(outcome, new(refusal)):
		return 0
	case x.row.Refusals > 0 && !x.due.After(x.row.DueAt): // refused before: each due time counts once
		return x.row.Refusals
	}
	return x.row.Refusals + 1
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
