package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"chairside/internal/chairsidetest"
	"chairside/internal/store"
)

// seeded runs test with the URL of a seeded database of each kind.
func seeded(t *testing.T, test func(t *testing.T, url string)) {
	t.Parallel()
	for kind, url := range map[string]func(testing.TB) string{"sqlite": chairsidetest.SQLite, "postgres": chairsidetest.Postgres} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, url(t))
		})
	}
}

func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// right complains about every total that is not what counting gives.
func right(t *testing.T, db *store.DB) {
	t.Helper()
	found, err := db.CheckTotals(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, difference := range found {
		t.Error(difference)
	}
}

func fold(t *testing.T, db *store.DB) {
	t.Helper()
	for {
		n, err := db.FoldTotals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
}

func number(t *testing.T, db *store.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.SQL.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func execute(t *testing.T, db *store.DB, text string, args ...any) {
	t.Helper()
	if _, err := db.SQL.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// copied is what a copy of an appointment takes over.
const copied = "created_at, updated_at, start_time, finish_time, duration, reason, state, notes, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at, practice_id, patient_id, practitioner_id"

// changes are statements that change appointments in all the ways that totals
// depend on, and in some that they do not; ? is a small number.
func changes(db *store.DB) []string {
	day := "86400000000"
	if db.Dialect == dialect.Postgres {
		day = "interval '1 day'"
	}
	return []string{
		"INSERT INTO appointments (" + copied + ") SELECT " + copied + " FROM appointments WHERE id = (SELECT max(id) - ? FROM appointments)",
		"INSERT INTO appointments (" + copied + ") SELECT " + copied + " FROM appointments WHERE id % 19 = ?",
		"UPDATE appointments SET cancelled_at = updated_at, did_not_attend_at = NULL, state = 'Cancelled' WHERE id % 23 = ?",
		"UPDATE appointments SET cancelled_at = NULL, did_not_attend_at = NULL, pending_at = updated_at, state = 'Pending' WHERE id % 17 = ?",
		"UPDATE appointments SET practitioner_id = (SELECT max(p.id) FROM practitioners p WHERE p.practice_id = appointments.practice_id AND p.id <> appointments.practitioner_id) WHERE id % 29 = ?",
		"UPDATE appointments SET start_time = start_time + " + day + ", finish_time = finish_time + " + day + " WHERE id % 31 = ?",
		"UPDATE appointments SET notes = 'x' WHERE id % 37 = ?",
		"DELETE FROM appointments WHERE id % 41 = ?",
	}
}

// Many clients change rows in every way while totals are folded in two places:
// at every moment every total is what counting gives.
func TestTotalsUnderFire(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		const clients, rounds = 4, 40
		first, second := open(t, url), open(t, url)
		right(t, first)
		var (
			writing, watching sync.WaitGroup
			over              = make(chan struct{})
			committed         atomic.Int64
		)
		for i := range clients {
			db := []*store.DB{first, second}[i%2]
			random := rand.New(rand.NewPCG(1, uint64(i)))
			writing.Go(func() {
				for range rounds {
					if change(t.Context(), db, random) == nil { // the others have met in a deadlock
						committed.Add(1)
					}
				}
			})
		}
		for _, db := range []*store.DB{first, second} {
			watching.Go(func() {
				for {
					select {
					case <-over:
						return
					default:
					}
					if _, err := db.FoldTotals(t.Context()); err != nil {
						t.Error(err)
					}
					right(t, db)
				}
			})
		}
		writing.Wait()
		close(over)
		watching.Wait()
		if n := committed.Load(); n < clients*rounds/2 {
			t.Errorf("only %d of %d transactions went through", n, clients*rounds)
		}
		right(t, first)
		fold(t, first)
		right(t, first)
		if first.Dialect == dialect.SQLite {
			execute(t, first, "DELETE FROM appointments")
		} else {
			if n := number(t, first, "SELECT count(*) FROM total_changes"); n > 0 {
				t.Errorf("%d changes are not folded", n)
			}
			execute(t, first, "INSERT INTO appointments ("+copied+") SELECT "+copied+" FROM appointments LIMIT 7")
			execute(t, first, "TRUNCATE appointments")
			right(t, first)
			fold(t, second)
		}
		right(t, first)
		if n := number(t, first, "SELECT sum(n) FROM kept_totals WHERE total LIKE 'appointments.%'"); n != 0 {
			t.Errorf("%d appointments are left of none", n)
		}
	})
}

// change runs a transaction of a few changes, and rolls some of them back.
func change(ctx context.Context, db *store.DB, random *rand.Rand) error {
	tx, err := db.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	statements := changes(db)
	for range 1 + random.IntN(3) {
		text := strings.ReplaceAll(statements[random.IntN(len(statements))], "?", fmt.Sprint(random.IntN(17)))
		undo := random.IntN(4) == 0
		if undo {
			text = "SAVEPOINT here; " + text + "; ROLLBACK TO SAVEPOINT here"
		}
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	if random.IntN(5) == 0 {
		var practice uuid.UUID
		var practitioner int64
		if err := tx.QueryRowContext(ctx, "SELECT practice_id, practitioner_id FROM appointments ORDER BY id DESC LIMIT 1").Scan(&practice, &practitioner); err != nil {
			return err
		}
		b, err := db.Bulk(ctx, tx)
		if err != nil {
			return err
		}
		if err := load(ctx, b, practice, practitioner); err != nil {
			return err
		}
	}
	if random.IntN(10) == 0 && db.Dialect == dialect.Postgres {
		_, err := tx.ExecContext(ctx, "TRUNCATE appointments")
		return err // undone, too
	}
	if random.IntN(5) == 0 {
		return nil // undone
	}
	return tx.Commit()
}

// load writes appointments as imports do: on PostgreSQL with COPY.
func load(ctx context.Context, b *store.Bulk, practice uuid.UUID, practitioner int64) error {
	columns := []string{"created_at", "updated_at", "start_time", "finish_time", "duration", "reason", "metadata", "pending_at", "practice_id", "practitioner_id"}
	return b.Table(ctx, "appointments", columns, func(w *store.RowWriter) error {
		for i := range 30 {
			// Before 1970, too, where days are negative.
			start := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 3 * time.Hour)
			if err := w.Row(start, start, start, start.Add(time.Minute), 1, "Exam", "{}", start, practice, practitioner); err != nil {
				return err
			}
		}
		return nil
	})
}

// Changes are folded, and what they leave is cleaned away, as long as somebody
// keeps folding, in however many places, and whatever is replicated; an
// interruption is no error.
func TestKeepFolding(t *testing.T) {
	t.Parallel()
	url := chairsidetest.Postgres(t)
	first, second := open(t, url), open(t, url)
	execute(t, first, "CREATE PUBLICATION everything FOR ALL TABLES")
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var folding sync.WaitGroup
	folding.Go(func() { first.KeepFolding(ctx, logger) })
	folding.Go(func() { second.KeepFolding(ctx, logger) })
	execute(t, first, "INSERT INTO total_changes (total, practice_id, key, n) SELECT 'patients.all', id, i, sign FROM practices, generate_series(1, 15000) i, (VALUES (1), (-1)) AS s (sign)")
	deadline := time.Now().Add(30 * time.Second)
	for number(t, first, "SELECT count(*) FROM total_changes") > 0 ||
		number(t, first, "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'total_changes'") == 0 {
		if time.Now().After(deadline) {
			t.Fatal("changes are still there")
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	folding.Wait()
	right(t, first)
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// A table that is loaded without its indexes is counted at the end.
func TestTotalsOfABulkLoad(t *testing.T) {
	t.Parallel()
	db := open(t, chairsidetest.Postgres(t))
	var practice uuid.UUID
	var practitioner int64
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT practice_id, id FROM practitioners LIMIT 1").Scan(&practice, &practitioner); err != nil {
		t.Fatal(err)
	}
	execute(t, db, "TRUNCATE appointments")
	right(t, db)
	err := db.BulkLoad(t.Context(), func(b *store.Bulk) error {
		return b.Unindexed(t.Context(), []string{"appointments"}, func() error {
			return load(t.Context(), b, practice, practitioner)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	right(t, db)
	execute(t, db, "DELETE FROM appointments WHERE id % 2 = 0")
	right(t, db)
	if err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A connection that dies, while it writes or while it folds, neither loses nor
// doubles anything.
func TestTotalsSurviveKilledConnections(t *testing.T) {
	t.Parallel()
	url := chairsidetest.Postgres(t)
	db, killer := open(t, url), open(t, url)
	const kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
	var working sync.WaitGroup
	over := make(chan struct{})
	for i := range 3 {
		random := rand.New(rand.NewPCG(2, uint64(i)))
		working.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				// What fails was killed.
				_ = change(t.Context(), db, random)
				_, _ = db.FoldTotals(t.Context())
			}
		})
	}
	killed := 0
	for range 40 {
		killed += number(t, killer, kill)
	}
	close(over)
	working.Wait()
	if killed == 0 {
		t.Error("nothing was killed")
	}
	right(t, killer)
	fold(t, killer)
	right(t, killer)
}

// What no trigger can see is found and repaired.
func TestTotalsAreCheckedAndRepaired(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		db := open(t, url)
		right(t, db)
		if repaired, err := db.RepairTotals(t.Context()); err != nil || len(repaired) != 0 {
			t.Errorf("nothing was wrong, repaired: %v %v", repaired, err)
		}
		fold(t, db)
		execute(t, db, "UPDATE kept_totals SET n = n + 5 WHERE total = 'patients.all'")
		execute(t, db, "DELETE FROM kept_totals WHERE total = 'appointments.practitioner'")
		execute(t, db, "INSERT INTO kept_totals SELECT 'teeth', id, 0, 32 FROM practices")
		found, err := db.CheckTotals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tables := map[string]int{}
		for _, d := range found {
			tables[d.Table()]++
			if d.Total == "patients.all" && d.Kept != d.Counted+5 || d.Total == "teeth" && (d.Kept != 32 || d.Counted != 0) {
				t.Errorf("found: %s", d)
			}
		}
		if len(tables) != 3 || tables["patients"] != 2 || tables["appointments"] == 0 {
			t.Errorf("found: %v", found)
		}
		repaired, err := db.RepairTotals(t.Context())
		if err != nil || fmt.Sprint(repaired) != fmt.Sprint(found) {
			t.Errorf("repaired: %v, %v", repaired, err)
		}
		right(t, db)
		fold(t, db)
		right(t, db)
	})
}

// A trigger that is missing, differs or is not ours is drift.
func TestVerifyNamesTriggers(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		db := open(t, url)
		if err := db.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if db.Dialect == dialect.Postgres {
			execute(t, db, "DROP TRIGGER keep_patients_delete ON patients")
			execute(t, db, "CREATE OR REPLACE FUNCTION keep_payments_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			execute(t, db, "ALTER TABLE invoices DISABLE TRIGGER keep_invoices_update")
			execute(t, db, "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			execute(t, db, "CREATE TRIGGER mine AFTER INSERT ON rooms EXECUTE FUNCTION mine()")
		} else {
			execute(t, db, "DROP TRIGGER keep_patients_delete")
			execute(t, db, "DROP TRIGGER keep_payments_insert")
			execute(t, db, "CREATE TRIGGER keep_payments_insert AFTER INSERT ON payments BEGIN SELECT 1; END")
			execute(t, db, "DROP TRIGGER keep_invoices_update")
			execute(t, db, "CREATE TRIGGER keep_invoices_update AFTER UPDATE ON invoices BEGIN SELECT 1; END")
			execute(t, db, "CREATE TRIGGER mine AFTER INSERT ON rooms BEGIN SELECT 1; END")
		}
		var drift *store.DriftError
		if err := db.Verify(t.Context()); !errors.As(err, &drift) {
			t.Fatal(err)
		}
		want := []string{
			"trigger keep_invoices_update of invoices differs",
			"trigger keep_patients_delete of patients is missing",
			"trigger keep_payments_insert of payments differs",
			"trigger mine of rooms is not in the schema",
		}
		if !slices.Equal(drift.Differences, want) {
			t.Errorf("differences: %q", drift.Differences)
		}
		plan, err := db.PlanTotals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range plan {
			for i, statement := range step.Statements {
				step.Statements[i] = strings.TrimSuffix(statement, ";")
			}
			execute(t, db, strings.Join(step.Statements, ";\n")) // in one transaction on PostgreSQL
		}
		if err := db.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		right(t, db)
	})
}
