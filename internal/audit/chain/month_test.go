package chain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"chairside/internal/audit/chain"
	"chairside/internal/clock"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
	"chairside/internal/test/harness"
)

// partitions returns the partitions of the log.
func partitions(t *testing.T, db *store.DB) string {
	t.Helper()
	return storetest.Value(t, db.SQL, `SELECT coalesce(string_agg(c.relname, ' ' ORDER BY c.relname), '') FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
		WHERE i.inhparent IN ('audit_events'::regclass, 'audit_reads'::regclass)`)
}

// addMonths adds the months from one time on.
func addMonths(t *testing.T, db *store.DB, from time.Time) int {
	t.Helper()
	n, err := migrate.AddMonths(clock.With(t.Context(), from), db)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPruneDropsWholeMonths: the partitions of pruned months are dropped, the log verifies, and what was
// sealed later is kept.
func TestPruneDropsWholeMonths(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.Postgres(t), harness.Patient)
	f := newFixture(t, e)
	month := migrate.MonthOf(time.Now())
	if n := addMonths(t, e.DB, month.Start); n != 2*25 {
		t.Fatalf("%d partitions were added", n)
	}
	if n := addMonths(t, e.DB, month.Start); n != 0 {
		t.Errorf("%d partitions were added again", n)
	}
	// The fixture's events were in the default partition.
	if n := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events_default WHERE at >= '"+month.Start.Format(time.RFC3339)+"'"); n != 0 {
		t.Errorf("%d events stayed in the default partition", n)
	}
	f.clean(t)
	// An event of this month that is sealed in the next one, and one of the next month in a block of this one.
	for _, at := range []time.Time{month.End().Add(-time.Second), month.End().Add(time.Minute)} {
		storetest.Exec(t, e.DB, "INSERT INTO audit_events (practice_id, at, action, fields, details) SELECT id, $1, 'refuse', '[]', '{}' FROM practices", at)
	}
	f.seal(t)
	late := storetest.Int(t, e.DB, "SELECT max(id) FROM audit_events")
	storetest.Exec(t, e.DB, "INSERT INTO audit_events (practice_id, at, action, fields, details) SELECT id, $1, 'report', '[]', '{}' FROM practices", month.End().Add(-time.Millisecond))
	for n := 1; n > 0; {
		var err error
		if n, err = chain.Seal(clock.With(t.Context(), month.End().Add(time.Second)), e.DB); err != nil {
			t.Fatal(err)
		}
	}
	f.seal(t)
	f.clean(t)
	before := storetest.Int(t, e.DB, "SELECT count(*) FROM audit_events")
	n, err := chain.Prune(context.Background(), e.DB, f.key, month.Add(1).Start, nil)
	if err != nil || n == 0 || n >= before {
		t.Fatalf("%d of %d deleted: %v", n, before, err)
	}
	if all := partitions(t, e.DB); strings.Contains(all, month.Partition("audit_events")) || strings.Contains(all, month.Partition("audit_reads")) || !strings.Contains(all, month.Add(1).Partition("audit_events")) {
		t.Errorf("partitions %s", all)
	}
	if kept := storetest.Int(t, e.DB, fmt.Sprintf("SELECT count(*) FROM audit_events WHERE action = 'report' AND id > %d", late)); kept == 0 {
		t.Error("events that were sealed later are gone")
	}
	f.seal(t)
	f.clean(t)
	if r := f.verify(t); r.Cuts == 0 {
		t.Error("no cut")
	}
}

// TestMissingMonthsAreReported: before they run out.
func TestMissingMonthsAreReported(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		now := time.Date(2031, 5, 7, 0, 0, 0, 0, time.UTC)
		missing := func(at time.Time) string {
			problem, err := migrate.MissingMonths(clock.With(t.Context(), at), e.DB)
			if err != nil {
				t.Fatal(err)
			}
			return problem
		}
		if !storetest.Postgres(e.DB) {
			if n := addMonths(t, e.DB, now); n != 0 || missing(now) != "" {
				t.Errorf("SQLite has %d months, %q", n, missing(now))
			}
			return
		}
		if got := missing(now); !strings.Contains(got, "no partition for 2031-05") {
			t.Errorf("without months: %q", got)
		}
		addMonths(t, e.DB, now)
		if got := missing(now.AddDate(0, 21, 0)); got != "" {
			t.Errorf("with three months left: %q", got)
		}
		if got := missing(now.AddDate(0, 22, 0)); !strings.Contains(got, "no partition for 2033-06") {
			t.Errorf("with two months left: %q", got)
		}
	})
}

// TestMonthsAreReadByIndex: who has seen a patient, and the other pages of the log, read no whole
// partition.
func TestMonthsAreReadByIndex(t *testing.T) {
	t.Parallel()
	e := harness.Start(t, harness.Postgres(t), harness.Patient)
	f := newFixture(t, e)
	addMonths(t, e.DB, time.Now())
	practice := storetest.Value(t, e.DB.SQL, "SELECT practice_id FROM patients WHERE id = $1", f.patients[0])
	for range 2 {
		storetest.Exec(t, e.DB, `INSERT INTO audit_events (practice_id, at, action, fields, details) SELECT $1, now() + n * interval '1 hour', 'report', '[]', '{}' FROM generate_series(1, 8000) AS n`, practice)
		storetest.Exec(t, e.DB, `INSERT INTO audit_reads (practice_id, patient_id, event_id, at) SELECT practice_id, id + 100000, id, at FROM audit_events WHERE action = 'report'`)
	}
	for _, table := range []string{"audit_events", "audit_reads"} {
		storetest.Exec(t, e.DB, "ANALYZE "+table)
	}
	plan := explain(t, e.DB, fmt.Sprintf(`SELECT * FROM audit_events WHERE id = ANY (ARRAY(
		SELECT event_id FROM audit_reads AS r WHERE r.practice_id = '%[1]s' AND r.patient_id = %[2]d
		UNION ALL SELECT id FROM audit_events AS w WHERE w.practice_id = '%[1]s' AND w.patient_id = %[2]d))
		AND practice_id = '%[1]s' ORDER BY id DESC LIMIT 26`, practice, f.patients[0]))
	if strings.Contains(plan, "Seq Scan") || strings.Count(plan, "Index Cond: (id = ANY (") != 26 {
		t.Errorf("the plan reads whole months:\n%s", plan)
	}
	for what, query := range map[string]string{
		"newest": "SELECT * FROM audit_events WHERE practice_id = '%s' ORDER BY id DESC LIMIT 26",
		"a day":  "SELECT * FROM audit_events WHERE practice_id = '%s' AND at >= now() AND at < now() + interval '1 day' ORDER BY id DESC LIMIT 26",
		"record": "SELECT * FROM audit_events WHERE practice_id = '%s' AND record_id = '7' ORDER BY id DESC LIMIT 26",
	} {
		if plan := explain(t, e.DB, fmt.Sprintf(query, practice)); strings.Contains(plan, "Seq Scan") {
			t.Errorf("%s reads whole months:\n%s", what, plan)
		}
	}
}

// explain runs a query and returns its plan. Without sequential scans, which are right for the few rows
// of a test, it shows whether an index serves the query.
func explain(t *testing.T, db *store.DB, query string) string {
	t.Helper()
	tx, err := db.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.QueryContext(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, line)
	}
	return plan.String()
}
