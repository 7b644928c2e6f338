package counters_test

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

	"chairside/internal/store"
	"chairside/internal/store/bulk"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// seeded runs test with the URL of a seeded database of each kind.
func seeded(t *testing.T, test func(t *testing.T, url string)) {
	t.Parallel()
	for kind, url := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, url(t))
		})
	}
}

// copied are the columns that are copied to make another appointment.
const copied = "created_at, updated_at, start_time, finish_time, duration, reason, state, notes, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at, practice_id, patient_id, practitioner_id"

// changes are statements that change appointments in all the ways that counters depend on,
// and in some that they do not; ? is a small number.
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

// unlink clears the references to appointments and their cancellation reasons, so that statements
// can delete them and change their states.
func unlink(t *testing.T, db *store.DB) {
	t.Helper()
	for _, table := range []string{"recalls", "treatment_appointments", "waiting_lists"} {
		storetest.Exec(t, db, "UPDATE "+table+" SET appointment_id = NULL")
	}
	storetest.Exec(t, db, "UPDATE appointments SET appointment_cancellation_reason_id = NULL WHERE appointment_cancellation_reason_id IS NOT NULL")
}

// TestCountersUnderLoad changes rows from many clients and in every way, while two processes
// compact: at every moment each counter equals the number of rows.
func TestCountersUnderLoad(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		const clients, rounds = 4, 40
		first, second := storetest.Open(t, url), storetest.Open(t, url)
		unlink(t, first)
		storetest.CheckCounters(t, first)
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
					if change(t.Context(), db, random) == nil { // the others ended in a deadlock
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
					if _, err := db.Counters.Compact(t.Context()); err != nil {
						t.Error(err)
					}
					storetest.CheckCounters(t, db)
				}
			})
		}
		writing.Wait()
		close(over)
		watching.Wait()
		if n := committed.Load(); n < clients*rounds/2 {
			t.Errorf("only %d of %d transactions went through", n, clients*rounds)
		}
		storetest.CheckCounters(t, first)
		storetest.Compact(t, first)
		storetest.CheckCounters(t, first)
		if first.Dialect == dialect.SQLite {
			storetest.Exec(t, first, "DELETE FROM appointments")
		} else {
			if n := storetest.Int(t, first, "SELECT count(*) FROM counter_changes"); n > 0 {
				t.Errorf("%d changes are not compacted", n)
			}
			storetest.Exec(t, first, "INSERT INTO appointments ("+copied+") SELECT "+copied+" FROM appointments LIMIT 7")
			storetest.Exec(t, first, "TRUNCATE appointments, recalls, treatment_appointments, waiting_lists")
			storetest.CheckCounters(t, first)
			storetest.Compact(t, second)
		}
		storetest.CheckCounters(t, first)
		if n := storetest.Int(t, first, "SELECT sum(n) FROM counters WHERE counter LIKE 'appointments.%'"); n != 0 {
			t.Errorf("the counters have %d appointments, the table none", n)
		}
	})
}

// change runs a transaction with a few random changes. It rolls back some of the changes, and
// some of the transactions.
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
		b, err := bulk.Join(ctx, db, tx)
		if err != nil {
			return err
		}
		if err := load(ctx, b, practice, practitioner); err != nil {
			return err
		}
	}
	if random.IntN(10) == 0 && db.Dialect == dialect.Postgres {
		_, err := tx.ExecContext(ctx, "TRUNCATE appointments, recalls, treatment_appointments, waiting_lists")
		return err // rolled back as well
	}
	if random.IntN(5) == 0 {
		return nil // rolled back
	}
	return tx.Commit()
}

// load writes appointments as imports do, on PostgreSQL with COPY.
func load(ctx context.Context, b *bulk.Tx, practice uuid.UUID, practitioner int64) error {
	columns := []string{"created_at", "updated_at", "start_time", "finish_time", "duration", "reason", "metadata", "pending_at", "practice_id", "practitioner_id"}
	return b.Table(ctx, "appointments", columns, func(w *bulk.RowWriter) error {
		for i := range 30 {
			// Some are before 1970, where the number of the day is negative.
			start := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 3 * time.Hour)
			if err := w.Row(start, start, start, start.Add(time.Minute), 1, "Exam", "{}", start, practice, practitioner); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestKeepCompacting checks that two processes can compact and vacuum at once, in a database
// with a publication, and that ending them is not logged as an error.
func TestKeepCompacting(t *testing.T) {
	t.Parallel()
	url := harness.Postgres(t)
	first, second := storetest.Open(t, url), storetest.Open(t, url)
	storetest.Exec(t, first, "CREATE PUBLICATION everything FOR ALL TABLES")
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	var compacting sync.WaitGroup
	compacting.Go(func() { first.Counters.KeepCompacting(ctx, logger, func(error) {}) })
	compacting.Go(func() { second.Counters.KeepCompacting(ctx, logger, func(error) {}) })
	storetest.Exec(t, first, "INSERT INTO counter_changes (counter, practice_id, key, n) SELECT 'patients.all', id, i, sign FROM practices, generate_series(1, 15000) i, (VALUES (1), (-1)) AS s (sign)")
	deadline := time.Now().Add(30 * time.Second)
	for storetest.Int(t, first, "SELECT count(*) FROM counter_changes") > 0 ||
		storetest.Int(t, first, "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'counter_changes'") == 0 {
		if time.Now().After(deadline) {
			t.Fatal("changes were not compacted, or the table was not vacuumed")
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	compacting.Wait()
	storetest.CheckCounters(t, first)
	if log.Len() > 0 {
		t.Error(log.String())
	}
}

// TestCountersOfBulkLoad checks that a table loaded without its indexes is counted at the end.
func TestCountersOfBulkLoad(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, harness.Postgres(t))
	var practice uuid.UUID
	var practitioner int64
	if err := db.SQL.QueryRowContext(t.Context(), "SELECT practice_id, id FROM practitioners LIMIT 1").Scan(&practice, &practitioner); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, db, "TRUNCATE appointments, recalls, treatment_appointments, waiting_lists")
	storetest.CheckCounters(t, db)
	err := bulk.Load(t.Context(), db, func(b *bulk.Tx) error {
		return b.Unindexed(t.Context(), []string{"appointments"}, func() error {
			return load(t.Context(), b, practice, practitioner)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	storetest.CheckCounters(t, db)
	storetest.Exec(t, db, "DELETE FROM appointments WHERE id % 2 = 0")
	storetest.CheckCounters(t, db)
	if err := migrate.Verify(t.Context(), db); err != nil {
		t.Error(err)
	}
}

// TestCountersSurviveKilledConnections checks that a connection that dies while it writes or
// compacts does not lose or double a count.
func TestCountersSurviveKilledConnections(t *testing.T) {
	t.Parallel()
	url := harness.Postgres(t)
	db, killer := storetest.Open(t, url), storetest.Open(t, url)
	unlink(t, db)
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
				// Errors are expected: connections are killed.
				_ = change(t.Context(), db, random)
				_, _ = db.Counters.Compact(t.Context())
			}
		})
	}
	killed := 0
	for range 40 {
		killed += storetest.Int(t, killer, kill)
	}
	close(over)
	working.Wait()
	if killed == 0 {
		t.Error("no connection was killed")
	}
	storetest.CheckCounters(t, killer)
	storetest.Compact(t, killer)
	storetest.CheckCounters(t, killer)
}

// TestCountersAreCheckedAndRepaired changes the tables of counters directly, past the triggers.
func TestCountersAreCheckedAndRepaired(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		storetest.CheckCounters(t, db)
		if repaired, err := db.Counters.Repair(t.Context()); err != nil || len(repaired) != 0 {
			t.Errorf("repaired %v of correct counters: %v", repaired, err)
		}
		storetest.Compact(t, db)
		storetest.Exec(t, db, "UPDATE counters SET n = n + 5 WHERE counter = 'patients.all'")
		storetest.Exec(t, db, "DELETE FROM counters WHERE counter = 'appointments.practitioner'")
		storetest.Exec(t, db, "INSERT INTO counters SELECT 'teeth', id, 0, 32 FROM practices")
		found, err := db.Counters.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tables := map[string]int{}
		for _, d := range found {
			tables[d.Table()]++
			if d.Counter == "patients.all" && d.Stored != d.Counted+5 || d.Counter == "teeth" && (d.Stored != 32 || d.Counted != 0) {
				t.Errorf("found: %s", d)
			}
		}
		if len(tables) != 3 || tables["patients"] != 2 || tables["appointments"] == 0 {
			t.Errorf("found: %v", found)
		}
		repaired, err := db.Counters.Repair(t.Context())
		if err != nil || fmt.Sprint(repaired) != fmt.Sprint(found) {
			t.Errorf("repaired: %v, %v", repaired, err)
		}
		storetest.CheckCounters(t, db)
		storetest.Compact(t, db)
		storetest.CheckCounters(t, db)
	})
}

// TestVerifyNamesTriggers checks that Verify names triggers that are missing, different or
// unknown.
func TestVerifyNamesTriggers(t *testing.T) {
	seeded(t, func(t *testing.T, url string) {
		db := storetest.Open(t, url)
		if err := migrate.Verify(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if db.Dialect == dialect.Postgres {
			storetest.Exec(t, db, "DROP TRIGGER keep_patients_delete ON patients")
			storetest.Exec(t, db, "CREATE OR REPLACE FUNCTION keep_payments_insert() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			storetest.Exec(t, db, "ALTER TABLE invoices DISABLE TRIGGER keep_invoices_update")
			storetest.Exec(t, db, "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
			storetest.Exec(t, db, "CREATE TRIGGER mine AFTER INSERT ON rooms EXECUTE FUNCTION mine()")
		} else {
			storetest.Exec(t, db, "DROP TRIGGER keep_patients_delete")
			storetest.Exec(t, db, "DROP TRIGGER keep_payments_insert")
			storetest.Exec(t, db, "CREATE TRIGGER keep_payments_insert AFTER INSERT ON payments BEGIN SELECT 1; END")
			storetest.Exec(t, db, "DROP TRIGGER keep_invoices_update")
			storetest.Exec(t, db, "CREATE TRIGGER keep_invoices_update AFTER UPDATE ON invoices BEGIN SELECT 1; END")
			storetest.Exec(t, db, "CREATE TRIGGER mine AFTER INSERT ON rooms BEGIN SELECT 1; END")
		}
		var drift *migrate.DriftError
		if err := migrate.Verify(t.Context(), db); !errors.As(err, &drift) {
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
		plan, err := db.Counters.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range plan {
			for i, statement := range step.Statements {
				step.Statements[i] = strings.TrimSuffix(statement, ";")
			}
			storetest.Exec(t, db, strings.Join(step.Statements, ";\n")) // in one transaction on PostgreSQL
		}
		if err := migrate.Verify(t.Context(), db); err != nil {
			t.Error(err)
		}
		storetest.CheckCounters(t, db)
	})
}
