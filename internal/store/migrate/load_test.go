package migrate_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chairside/internal/store"
	"chairside/internal/store/analyst"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// appointments is the size of the table under load. The goal, no request failed
// and none over 2 s, is measured by hand:
//
//	go test ./internal/store/migrate -run TestMigrationUnderLoad -v -appointments 500000 -timeout 30m
var appointments = flag.Int("appointments", 20_000, "rows of the table that TestMigrationUnderLoad migrates")

// undoneCounter is the counter that changedBack takes away, beside an index, a column
// and a constraint, and that the migrations bring back.
const undoneCounter = "appointments.practitioner"

// changedBack gives the database the schema of a release before, and the
// migrations from there.
func changedBack(t *testing.T, db *store.DB) map[string]string {
	t.Helper()
	storetest.Exec(t, db, strings.Join(slices.Concat([]string{
		"DROP VIEW report.appointments",
		"DROP INDEX appointment_practice_id_updated_at_id",
		"ALTER TABLE appointments DROP COLUMN booked_via_api, DROP CONSTRAINT appointments_finishes_after_start",
	}, withoutCounter(t, db)), ";\n"))
	steps, err := db.Counters.Plan(t.Context())
	if err != nil || len(steps) != 2 {
		t.Fatalf("the steps: %v %v", steps, err)
	}
	file := func(statements ...string) string { return strings.Join(statements, ";\n") + ";\n" }
	const outside = "-- atlas:txmode none\n\n"
	var views []string
	for _, s := range analyst.Plan(store.Tables(db.Dialect), nil, []string{"appointments"}) {
		views = append(views, s.Text)
	}
	return map[string]string{
		"29990101000001_columns.sql": file(
			"ALTER TABLE appointments ADD COLUMN booked_via_api boolean NULL",
			"ALTER TABLE appointments ALTER COLUMN booked_via_api SET DEFAULT false",
			"ALTER TABLE appointments ADD CONSTRAINT appointments_finishes_after_start CHECK (finish_time > start_time) NOT VALID",
		),
		"29990101000002_fill.sql": outside + file(`DO $$
DECLARE
  first bigint := 0;
  last bigint;
BEGIN
  LOOP
    SELECT max(id) INTO last FROM (SELECT id FROM appointments WHERE id > first ORDER BY id LIMIT 1000) AS batch;
    EXIT WHEN last IS NULL;
    UPDATE appointments SET booked_via_api = id % 5 = 0 WHERE id > first AND id <= last AND booked_via_api IS NULL;
    COMMIT;
    first := last;
  END LOOP;
END
$$`,
			"CREATE INDEX CONCURRENTLY appointment_practice_id_updated_at_id ON appointments (practice_id, updated_at, id)",
			"ALTER TABLE appointments VALIDATE CONSTRAINT appointments_finishes_after_start"),
		"29990101000003_required.sql": file("ALTER TABLE appointments ADD CONSTRAINT filled CHECK (booked_via_api IS NOT NULL) NOT VALID"),
		"29990101000004_validate.sql": outside + file("ALTER TABLE appointments VALIDATE CONSTRAINT filled"),
		"29990101000005_required.sql": file("ALTER TABLE appointments ALTER COLUMN booked_via_api SET NOT NULL", "ALTER TABLE appointments DROP CONSTRAINT filled"),
		"29990101000006_totals.sql":   file(steps[0].Statements...),
		"29990101000007_count.sql":    file(steps[1].Statements...),
		"29990101000008_views.sql":    file(views...),
	}
}

// withoutCounter returns the statements after which the triggers of appointments no longer
// maintain undoneCounter.
func withoutCounter(t *testing.T, db *store.DB) []string {
	t.Helper()
	var functions, trigger string
	err := db.SQL.QueryRowContext(t.Context(), `SELECT
		(SELECT string_agg(pg_get_functiondef(oid), ';') FROM pg_proc WHERE proname LIKE 'keep_appointments_%' AND proname NOT LIKE '%_truncate'),
		(SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'keep_appointments_update')`).Scan(&functions, &trigger)
	if err != nil {
		t.Fatal(err)
	}
	functions = regexp.MustCompile(`(?m)^ *\('`+undoneCounter+`'.*\n`).ReplaceAllString(functions, "")
	trigger = strings.Replace(trigger, "(old.practitioner_id IS DISTINCT FROM new.practitioner_id)", "false", 1)
	if strings.Contains(functions, undoneCounter) || strings.Contains(trigger, "practitioner_id") {
		t.Fatalf("the counter is still there: %s %s", functions, trigger)
	}
	return []string{functions, "DROP TRIGGER keep_appointments_update ON appointments", trigger,
		"DELETE FROM counter_changes WHERE counter = '" + undoneCounter + "'", "DELETE FROM counters WHERE counter = '" + undoneCounter + "'"}
}

// copied are the columns that a copy of an appointment takes over.
const copied = "created_at, updated_at, start_time, finish_time, duration, reason, state, notes, booked_via_api, metadata, pending_at, confirmed_at, arrived_at, in_surgery_at, completed_at, cancelled_at, did_not_attend_at, practice_id, patient_id, practitioner_id"

// traffic is what clients of a server do to appointments, each in a transaction of
// its own, and how it went.
type traffic struct {
	db              *store.DB
	done, inserted  atomic.Int64
	failed          atomic.Int64
	longest         atomic.Int64 // ns
	lowest, highest int          // ids
}

func (l *traffic) note(t *testing.T, began time.Time, err error) {
	l.done.Add(1)
	if err != nil {
		l.failed.Add(1)
		t.Error(err)
	}
	for took := int64(time.Since(began)); ; {
		longest := l.longest.Load()
		if took <= longest || l.longest.CompareAndSwap(longest, took) {
			return
		}
	}
}

// write books an appointment, and changes another one under its lock.
func (l *traffic) write(t *testing.T, random *rand.Rand) error {
	tx, err := l.db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	id := l.lowest + random.IntN(l.highest-l.lowest+1)
	old := strings.Replace(copied, "booked_via_api, ", "", 1)
	var first int
	err = tx.QueryRowContext(t.Context(), "INSERT INTO appointments ("+old+") SELECT "+old+" FROM appointments WHERE id = (SELECT min(id) FROM appointments WHERE id >= $1) RETURNING id", id).Scan(&first)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"SELECT id FROM appointments WHERE id = $1 FOR UPDATE",
		"UPDATE appointments SET practitioner_id = (SELECT min(id) FROM practitioners p WHERE p.practice_id = appointments.practice_id AND p.id >= practitioner_id), updated_at = now(), state = CASE WHEN cancelled_at IS NULL THEN 'Cancelled' ELSE 'Pending' END, pending_at = coalesce(pending_at, now()), did_not_attend_at = NULL, appointment_cancellation_reason_id = NULL, cancelled_at = CASE WHEN cancelled_at IS NULL THEN now() END WHERE id = $1",
		"UPDATE patients SET updated_at = now() WHERE id = (SELECT patient_id FROM appointments WHERE id = $1)",
	} {
		if _, err := tx.ExecContext(t.Context(), statement, id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	l.inserted.Add(1)
	return nil
}

// read reads a page and its total.
func (l *traffic) read(t *testing.T, random *rand.Rand) error {
	rows, err := l.db.SQL.QueryContext(t.Context(), `
		SELECT id, notes, (SELECT sum(n) FROM (SELECT n FROM counters WHERE counter = 'appointments.all' UNION ALL SELECT n FROM counter_changes WHERE counter = 'appointments.all') AS x)
		FROM appointments WHERE id >= $1 ORDER BY id LIMIT 100`, l.lowest+random.IntN(l.highest-l.lowest+1))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// A migration with an index, a column that is filled, constraints and a counter
// fails no client, and the counter counts what is written meanwhile.
func TestMigrationUnderLoad(t *testing.T) {
	t.Parallel()
	url := harness.Postgres(t)
	db := storetest.Open(t, url+"&statement_timeout=0")
	before := storetest.Int(t, db, "SELECT count(*) FROM appointments")
	storetest.Exec(t, db, fmt.Sprintf("INSERT INTO appointments (%[1]s) SELECT %[1]s FROM (SELECT * FROM appointments, generate_series(1, %d) LIMIT %d) AS a", copied, 1+*appointments/before, max(*appointments-before, 0)))
	storetest.Compact(t, db)
	files := changedBack(t, db)
	storetest.Exec(t, db, "VACUUM ANALYZE appointments, counters, counter_changes")
	rows := storetest.Int(t, db, "SELECT count(*) FROM appointments")

	l := &traffic{db: storetest.Open(t, url), lowest: storetest.Int(t, db, "SELECT min(id) FROM appointments"), highest: storetest.Int(t, db, "SELECT max(id) FROM appointments")}
	var clients sync.WaitGroup
	over := make(chan struct{})
	for i := range 16 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		work := l.write
		if i >= 8 {
			work = l.read
		}
		clients.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond): // steady, not as fast as they can
				}
				began := time.Now()
				l.note(t, began, work(t, random))
			}
		})
	}
	clients.Go(func() { // what a server does besides
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
			if _, err := l.db.Counters.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	for l.done.Load() < 200 {
		time.Sleep(10 * time.Millisecond)
	}
	quiet := time.Duration(l.longest.Swap(0))

	m := migrate.With(t, db, files)
	began := time.Now()
	applied, err := m.Up(t.Context(), func(sentence string) { t.Log(sentence) })
	took := time.Since(began)
	close(over)
	clients.Wait()
	if err != nil || len(applied) != len(files) {
		t.Fatalf("%v %v", applied, err)
	}
	t.Logf("%d appointments: migrated in %v, %d requests, %d failed, the longest took %v (%v before)",
		rows, took.Round(time.Millisecond), l.done.Load(), l.failed.Load(), time.Duration(l.longest.Load()).Round(time.Millisecond), quiet.Round(time.Millisecond))
	storetest.CheckCounters(t, db)
	if err := m.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if n := storetest.Int(t, db, "SELECT count(*) FROM appointments"); n != rows+int(l.inserted.Load()) {
		t.Errorf("%d rows of %d, and %d inserted", n, rows, l.inserted.Load())
	}
	if n := storetest.Int(t, db, "SELECT count(*) FROM appointments WHERE id <= $1 AND booked_via_api <> (id % 5 = 0)", l.highest); n > 0 {
		t.Errorf("%d rows are filled wrongly", n)
	}
	if n := storetest.Int(t, db, "SELECT coalesce(sum(n), 0) FROM counters WHERE counter = $1", undoneCounter) + storetest.Int(t, db, "SELECT coalesce(sum(n), 0) FROM counter_changes WHERE counter = $1", undoneCounter); n == 0 {
		t.Error("the counter has counted nothing")
	}
}

// A migration that loses its connection at every statement, before it, while it
// runs and after it, ends with the right schema and the right totals when it is
// simply run again.
func TestMigrationIsResumedAtEveryStatement(t *testing.T) {
	t.Parallel()
	url := harness.Postgres(t)
	db := storetest.Open(t, url)
	storetest.Compact(t, db)
	files := changedBack(t, db)
	m := migrate.With(t, db, files)
	breaks := m.Break(t, url)
	runs := 0
	for ; ; runs++ {
		_, err := m.Up(t.Context())
		if err == nil {
			break
		}
		if runs > 1000 {
			t.Fatal(err)
		}
		if err := m.Check(t.Context()); err != nil && !errors.Is(err, migrate.ErrPending) {
			t.Fatalf("after run %d: %v", runs, err)
		}
		storetest.Exec(t, db, "UPDATE appointments SET state = CASE WHEN cancelled_at IS NULL THEN 'Cancelled' ELSE 'Pending' END, pending_at = coalesce(pending_at, now()), did_not_attend_at = NULL, appointment_cancellation_reason_id = NULL, cancelled_at = CASE WHEN cancelled_at IS NULL THEN now() END, practitioner_id = (SELECT min(id) FROM practitioners p WHERE p.practice_id = appointments.practice_id) WHERE id % 97 = $1 % 97", runs)
	}
	t.Logf("%d runs, broken off at %d points", runs, breaks())
	if breaks() < 50 {
		t.Error("that is too few")
	}
	db = storetest.Open(t, url)
	if err := migrate.With(t, db, files).Verify(t.Context()); err != nil {
		t.Error(err)
	}
	storetest.CheckCounters(t, db)
	if n := storetest.Int(t, db, "SELECT count(*) FROM appointments WHERE booked_via_api <> (id % 5 = 0)"); n > 0 {
		t.Errorf("%d rows are filled wrongly", n)
	}
}
