package closure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql/schema"
	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/accesstoken"
	"chairside/ent/auditblock"
	"chairside/ent/authorizationcode"
	"chairside/ent/patient"
	"chairside/ent/practicedeletion"
	"chairside/ent/ratebucket"
	"chairside/ent/refreshtoken"
	"chairside/internal/audit/chain"
	"chairside/internal/audit/trail"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/rowsecurity"
	"chairside/internal/subject"
)

const (
	// RunEvery is how often practices that are due are looked for.
	RunEvery = time.Minute
	// batchRows is the most rows of one transaction.
	batchRows = 500
	// batchTime bounds one transaction.
	batchTime = time.Minute
	// pause lets other writers in between two transactions.
	pause = 5 * time.Millisecond
	// settleTime is how long after a practice closed its deletion begins at the earliest: no request
	// that was let in before still runs then.
	settleTime = 2 * time.Minute
	// sweepTime is how long after the last row a practice is still looked at, for entries of
	// the audit log, the change feed and counters that other processes wrote meanwhile.
	sweepTime = time.Hour
)

// errBusy means that another process deletes.
var errBusy = errors.New("closure: another process deletes practices")

// Keep runs Run every minute until ctx ends. Any number of processes may do so; one at a time
// deletes. It calls ran after each run, logs errors and continues.
func Keep(ctx context.Context, db *store.DB, logger *slog.Logger, ran func(error)) {
	tick := time.NewTicker(RunEvery)
	defer tick.Stop()
	for {
		err := Run(ctx, db)
		ran(err)
		if err != nil && ctx.Err() == nil {
			logger.Warn("cannot delete a closed practice; the next minute tries again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Run deletes the rows of all practices that are due. While another process does so, it does
// nothing. It can be interrupted at any time.
func Run(ctx context.Context, db *store.DB) error {
	ctx = clock.Refresh(ctx)
	now := clock.Now(ctx)
	due, err := readDue(ctx, db, now)
	if err != nil {
		return fmt.Errorf("closure: find the practices that are due: %w", err)
	}
	var failed []error
	for _, id := range due {
		d := deletion{ctx: ctx, db: db, practice: id}
		err := d.begun()
		if err == nil {
			err = d.run()
		}
		switch {
		case errors.Is(err, errBusy):
			return errors.Join(failed...)
		case err != nil:
			failed = append(failed, fmt.Errorf("closure: delete the practice %s: %w", id, err))
		}
	}
	return errors.Join(failed...)
}

// errHeld keeps a practice that is due.
var errHeld = errors.New("the deletion waits: a patient's record was put under a legal hold after it was requested. Save the record, then release the hold, or confirm with \"chairside practice delete\"")

// begun returns nil if the deletion has begun, and begins it if no record has changed since the request.
func (d *deletion) begun() error {
	if d.db.Dialect == dialect.Postgres {
		if err := d.db.SQL.QueryRowContext(d.ctx, "SELECT NOT has_table_privilege('audit_events', 'DELETE')").Scan(&d.confined); err != nil {
			return err
		}
	}
	ctx := principal.AsSystem(d.ctx)
	scheduled, err := d.db.Ent.PracticeDeletion.Get(ctx, d.practice)
	if err != nil || scheduled.BeganAt != nil {
		return err
	}
	if err := d.mayBegin(ctx, scheduled); err != nil {
		return err
	}
	tx, err := d.begin(d.ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	switch n, err := d.note(tx, practicedeletion.FieldBeganAt); {
	case err != nil:
		return err
	case n == 0:
		return errChanged
	}
	return tx.Commit()
}

// errChanged leaves the practice to the next run.
var errChanged = errors.New("the deletion was cancelled, rescheduled or begun by another server")

// mayBegin returns why the deletion of a closed practice waits.
func (d *deletion) mayBegin(ctx context.Context, scheduled *ent.PracticeDeletion) error {
	practice, err := d.db.Ent.Practice.Get(ctx, d.practice)
	switch {
	case ent.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	if scheduled.KeptElsewhere == "" {
		kept, err := subject.KeptRecords(ctx, d.db, practice)
		if err == nil && kept.Any() {
			err = fmt.Errorf("the deletion waits: %s. Export the practice, and confirm with \"chairside practice delete %s --records-kept-elsewhere TEXT\"", kept, practice.Slug)
		}
		return err
	}
	held, err := d.db.Ent.Patient.Query().Where(patient.PracticeID(d.practice), patient.LegalHoldAtGT(scheduled.RequestedAt)).Exist(ctx)
	if err != nil {
		return err
	}
	if held {
		return errHeld
	}
	changed, err := subject.ChangedSince(ctx, d.db, practice, scheduled.RequestedAt)
	if err == nil && changed > 0 {
		err = fmt.Errorf("the deletion waits: patients' records changed after it was requested (patients: %d). Export the practice again, and confirm with \"chairside practice delete %s --records-kept-elsewhere TEXT\"", changed, practice.Slug)
	}
	return err
}

// readDue returns the practices that are due, or were deleted within sweepTime. A practice that is there and is not to be
// closed has been imported since.
func readDue(ctx context.Context, db *store.DB, now time.Time) (due []uuid.UUID, err error) {
	rows, err := db.SQL.QueryContext(ctx, `SELECT id FROM practice_deletions AS d WHERE due_at <= $1 AND (deleted_at IS NULL OR deleted_at > $2)
		AND NOT EXISTS (SELECT * FROM practices AS p WHERE p.id = d.id AND p.closes_at IS NULL) ORDER BY due_at, id`, now.Add(-settleTime), now.Add(-sweepTime))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		due = append(due, id)
	}
	return due, rows.Err()
}

// deletion deletes one practice.
type deletion struct {
	ctx      context.Context
	db       *store.DB
	practice uuid.UUID
	confined bool // the role may not delete rows of append-only tables: a function of the owner does
}

// part are rows to delete: a condition for the practice $1.
type part struct{ table, condition string }

// ownApplications are the applications of the practice.
const ownApplications = "(SELECT id FROM applications WHERE owner_id = $1)"

// parts returns everything to delete, in order.
func parts(dialectName string) []part {
	all := []part{ // of users of other practices, who authorised the practice's applications
		{refreshtoken.Table, "token_id IN (SELECT id FROM access_tokens WHERE application_id IN " + ownApplications + ")"},
		{authorizationcode.Table, "application_id IN " + ownApplications},
		{accesstoken.Table, "application_id IN " + ownApplications},
		{ratebucket.Table, "id = $1"},
	}
	tables := slices.DeleteFunc(store.Tables(dialectName), func(t *schema.Table) bool { return rowsecurity.PracticeColumn(t) == "" })
	slices.SortStableFunc(tables, func(a, b *schema.Table) int { return position(b.Name) - position(a.Name) })
	for _, t := range tables {
		all = append(all, part{t.Name, table.Quote(rowsecurity.PracticeColumn(t)) + " = $1"})
	}
	return all
}

// position returns the place of a table in ent.Tables, where a table comes after those that it
// refers to. Counters are not there: triggers write them, so they are deleted last.
func position(name string) int {
	return slices.IndexFunc(ent.Tables, func(t *table.Table) bool { return t.Name == name })
}

// run deletes all rows and notes that it did.
func (d *deletion) run() error {
	for again := true; again; { // triggers and other processes may write meanwhile
		again = false
		for _, p := range parts(d.db.Dialect) {
			n, err := d.deleteAll(p)
			if err != nil {
				return fmt.Errorf("%s: %w", p.table, err)
			}
			again = again || n > 0
		}
	}
	return d.finish()
}

// deleteAll deletes all rows of a part and returns their number.
func (d *deletion) deleteAll(p part) (total int64, err error) {
	for {
		n, err := d.deleteBatch(p)
		if total += n; err != nil || n == 0 {
			return total, err
		}
		select {
		case <-d.ctx.Done():
			return total, d.ctx.Err()
		case <-time.After(pause):
		}
	}
}

// deleteBatch deletes at most batchRows rows in a transaction.
func (d *deletion) deleteBatch(p part) (n int64, err error) {
	ctx, cancel := context.WithTimeout(d.ctx, batchTime)
	defer cancel()
	tx, err := d.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	if p.table == auditblock.Table {
		if err := chain.KeepPosition(ctx, d.db, tx, d.practice); err != nil {
			return 0, err
		}
	}
	these := "rowid IN (SELECT rowid FROM %[1]s WHERE %[2]s LIMIT %[3]d)"
	if d.db.Dialect == dialect.Postgres {
		// An array, because IN would read the whole table. The condition again, because rows of
		// other partitions have the same ctid.
		these = "(%[2]s) AND ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s LIMIT %[3]d))"
	}
	statement := fmt.Sprintf("DELETE FROM %[1]s WHERE "+these, table.Quote(p.table), p.condition, batchRows)
	switch {
	case d.confined && rowsecurity.AppendOnly(p.table):
		err = tx.QueryRowContext(ctx, "SELECT "+rowsecurity.DeleteFunction+"($1, $2, $3)", d.practice, p.table, batchRows).Scan(&n)
	case p.table == accesstoken.Table:
		n, err = d.deleteTokens(ctx, tx, statement)
	default:
		var result sql.Result
		if result, err = tx.ExecContext(ctx, statement, d.practice); err == nil {
			n, err = result.RowsAffected()
		}
	}
	if err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// deleteTokens deletes access tokens. Those of other practices' users are named in the audit logs of their practices.
func (d *deletion) deleteTokens(ctx context.Context, tx *sql.Tx, statement string) (n int64, err error) {
	rows, err := tx.QueryContext(ctx, statement+" RETURNING id, practice_id, user_id, application_id", d.practice)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var theirs []trail.Entry
	for ; rows.Next(); n++ {
		var id, practice uuid.UUID
		var application uuid.NullUUID
		var user int64
		if err := rows.Scan(&id, &practice, &user, &application); err != nil {
			return 0, err
		}
		if practice != d.practice {
			theirs = append(theirs, trail.Entry{
				Who: trail.Who{Practice: practice}, At: clock.Now(clock.Refresh(ctx)), Action: "delete", Resource: ent.TypeAccessToken, Record: id.String(),
				Details: map[string]any{"old": map[string]any{"user_id": user, "application_id": application}},
			})
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, e := range theirs {
		if err := trail.WriteIn(ctx, d.db, tx, e); err != nil {
			return 0, fmt.Errorf("write the audit log: %w", err)
		}
	}
	return n, nil
}

// begin begins a transaction that keeps other processes from deleting.
func (d *deletion) begin(ctx context.Context) (*sql.Tx, error) {
	tx, err := d.db.SQL.BeginTx(ctx, nil)
	if err != nil || d.db.Dialect != dialect.Postgres {
		return tx, err
	}
	var mine bool
	err = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(hashtext('chairside delete practices'))").Scan(&mine)
	if err == nil && !mine {
		err = errBusy
	}
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// note writes the time to a column of the practice's row in practice_deletions, and returns the number of
// rows: 0 if the column had a time, or the row is gone.
func (d *deletion) note(tx *sql.Tx, column string) (n int64, err error) {
	if d.confined {
		err = tx.QueryRowContext(d.ctx, "SELECT "+rowsecurity.DeleteFunction+"($1, $2, $3)", d.practice, column, batchRows).Scan(&n)
		return n, err
	}
	column = table.Quote(column)
	result, err := tx.ExecContext(d.ctx, "UPDATE practice_deletions SET "+column+" = $2 WHERE id = $1 AND due_at <= $2 AND "+column+" IS NULL", d.practice, clock.Now(clock.Refresh(d.ctx)))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// finish notes once that the practice was deleted, in the audit log of the installation too.
func (d *deletion) finish() error {
	tx, err := d.begin(d.ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	n, err := d.note(tx, practicedeletion.FieldDeletedAt)
	if err != nil || n == 0 {
		return err
	}
	err = trail.WriteIn(d.ctx, d.db, tx, trail.Entry{At: clock.Now(clock.Refresh(d.ctx)), Action: "delete", Resource: ent.TypePractice, Record: d.practice.String()})
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return d.db.Scrub(d.ctx)
}
