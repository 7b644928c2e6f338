package closure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/practicedeletion"
	"chairside/internal/clock"
	"chairside/internal/entx/table"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/schema"
)

var (
	// ErrScheduled is returned by Schedule for a practice that is scheduled already.
	ErrScheduled = errors.New("the deletion is scheduled already")
	// ErrNotScheduled is returned by Cancel for a practice that is not scheduled.
	ErrNotScheduled = errors.New("no deletion is scheduled")
	// ErrBegan is returned for a practice whose rows are being deleted.
	ErrBegan = errors.New("the practice is closed and is being deleted")
)

// Schedule closes a practice at a time and has it deleted then. keptElsewhere says where
// the records are that the law still requires; "" if it requires none. For a practice that is closed
// and waits (package doc), this is the confirmation: due does not matter, and everything entered so far
// counts as kept there. On PostgreSQL only the owner of the tables can do this.
func Schedule(ctx context.Context, db *store.DB, id uuid.UUID, due time.Time, keptElsewhere string) error {
	ctx = principal.AsSystem(ctx)
	return db.Tx(ctx, func(tx *ent.Client) error {
		practice, err := tx.Practice.Get(ctx, id)
		if err != nil {
			return err
		}
		if practice.ClosesAt != nil {
			if clock.Now(ctx).Before(*practice.ClosesAt) {
				return ErrScheduled
			}
			due = *practice.ClosesAt
			switch n, err := tx.PracticeDeletion.Delete().Where(practicedeletion.ID(id), practicedeletion.BeganAtIsNil()).Exec(ctx); {
			case err != nil:
				return err
			case n == 0:
				return ErrBegan
			}
		}
		if err := tx.Practice.UpdateOneID(id).SetClosesAt(due).Exec(ctx); err != nil {
			return err
		}
		details, err := json.Marshal(map[string]any{"due_at": due.UTC(), "records_kept_elsewhere": keptElsewhere})
		if err != nil {
			return err
		}
		err = tx.AuditEvent.Create().SetPracticeID(id).SetAt(clock.Now(ctx)).SetAction("delete").SetResource(ent.TypePractice).SetRecordID(id.String()).
			SetDetails(schema.AuditDetails{Text: details}).Exec(ctx)
		if err != nil {
			return fmt.Errorf("write the audit log: %w", err)
		}
		return tx.PracticeDeletion.Create().SetID(id).SetRequestedAt(clock.Now(ctx)).SetDueAt(due).SetKeptElsewhere(keptElsewhere).Exec(ctx)
	})
}

// Cancel cancels the scheduled deletion of a practice, unless it has begun.
func Cancel(ctx context.Context, db *store.DB, id uuid.UUID) error {
	ctx = principal.AsSystem(ctx)
	return db.Tx(ctx, func(tx *ent.Client) error {
		n, err := tx.PracticeDeletion.Delete().Where(practicedeletion.ID(id), practicedeletion.BeganAtIsNil()).Exec(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			began, err := tx.PracticeDeletion.Query().Where(practicedeletion.ID(id)).Exist(ctx)
			switch {
			case err != nil:
				return err
			case began:
				return ErrBegan
			}
			return ErrNotScheduled
		}
		return tx.Practice.UpdateOneID(id).ClearClosesAt().Exec(ctx)
	})
}

// Rows are rows of a table.
type Rows struct {
	Table string
	Rows  int64
}

// Count returns how many rows of each table the deletion of a practice would delete,
// without tables that have none.
func Count(ctx context.Context, db *store.DB, id uuid.UUID) (all []Rows, err error) {
	for _, p := range parts(db.Dialect) {
		r := Rows{Table: p.table}
		if err := db.SQL.QueryRowContext(ctx, "SELECT count(*) FROM "+table.Quote(p.table)+" WHERE "+p.condition, id).Scan(&r.Rows); err != nil {
			return nil, fmt.Errorf("count %s: %w", p.table, err)
		}
		if r.Rows > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}
