package subject_test

import (
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/store/storetest"
	"chairside/internal/subject"
	"chairside/internal/test/harness"
)

// The records that a practice must keep are those that an erasure refuses.
func TestKeptRecordsAgreesWithErasure(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx := e.As(t, "demo")
		practice := principal.Must(ctx).PracticeID
		first := storetest.Int(t, e.DB, "SELECT min(id) FROM patients WHERE practice_id = $1", practice)
		storetest.Exec(t, e.DB, "UPDATE patients SET legal_hold_at = $1, legal_hold_reason = 'Claim' WHERE id = $2", e.Clock.Now(), first)
		ids := []int64{}
		rows, err := e.DB.SQL.QueryContext(ctx, "SELECT id FROM patients WHERE practice_id = $1 AND erased_at IS NULL ORDER BY id", practice)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		for _, years := range []int{0, 12, 40} {
			ctx := clock.With(ctx, e.Clock.Now().AddDate(years, 0, 0))
			kept, err := subject.KeptRecords(ctx, e.DB, e.DB.Ent.Practice.GetX(ctx, practice))
			if err != nil {
				t.Fatal(err)
			}
			want, until := 0, civil.Date{}
			for _, id := range ids {
				would, err := subject.Check(ctx, e.DB, id)
				if would == nil {
					t.Fatal(err)
				}
				if today := civil.Of(clock.Now(ctx).In(time.UTC)); today.Before(would.Keeping.Until) {
					want++
					if until.Before(would.Keeping.Until) {
						until = would.Keeping.Until
					}
				}
			}
			if kept.Patients != want || kept.Held != 1 || kept.Until != until || !kept.Any() {
				t.Errorf("after %d years: %+v, want %d until %s", years, kept, want, until)
			}
		}
	})
}
