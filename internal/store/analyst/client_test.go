package analyst_test

import (
	"strings"
	"testing"

	"chairside/ent"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
	"chairside/internal/store/migrate"
	"chairside/internal/store/storetest"
)

// TestClientsFindAndQueryTheViews runs what Metabase and psql ask: what the catalogue has of the views,
// and charts with buckets, filters and joins.
func TestClientsFindAndQueryTheViews(t *testing.T) {
	t.Parallel()
	_, pool, _ := hired(t)
	columns, described := 0, 0
	for _, v := range ent.Views {
		columns += len(v.Columns)
	}
	rows, err := pool.QueryContext(t.Context(), `SELECT c.table_name, c.column_name, c.data_type, col_description(format('%I.%I', c.table_schema, c.table_name)::regclass, c.ordinal_position),
		obj_description(format('%I.%I', c.table_schema, c.table_name)::regclass)
		FROM information_schema.columns AS c WHERE c.table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1, c.ordinal_position`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var view, column, kind, comment, about string
		if err := rows.Scan(&view, &column, &kind, &comment, &about); err != nil {
			t.Fatal(err) // a missing comment is null
		}
		described++
		money := strings.Contains(column, "amount") || strings.HasSuffix(column, "_price") || strings.HasSuffix(column, "_balance")
		if money && kind != "numeric" || strings.HasSuffix(column, "_date") && kind != "date" || strings.HasSuffix(column, "_at") && kind != "timestamp with time zone" {
			t.Errorf("%s.%s is a %s", view, column, kind)
		}
	}
	if err := rows.Err(); err != nil || described != columns {
		t.Errorf("%d columns, want %d; %v", described, columns, err)
	}
	for _, query := range []string{
		`SELECT DATE_TRUNC('month', "report"."invoices"."dated_on") AS "dated_on", SUM("report"."invoices"."amount") AS "sum" FROM "report"."invoices" WHERE "report"."invoices"."status" <> 'void' GROUP BY DATE_TRUNC('month', "report"."invoices"."dated_on") ORDER BY DATE_TRUNC('month', "report"."invoices"."dated_on") ASC`,
		`SELECT (CAST(DATE_TRUNC('week', (("report"."appointments"."start_time" AT TIME ZONE 'Europe/London') + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day') AS "start_time", COUNT(*) AS "count" FROM "report"."appointments" GROUP BY 1 ORDER BY 1 ASC`,
		`SELECT "Site"."name" AS "Site__name", AVG("report"."payments"."amount") AS "avg" FROM "report"."payments" LEFT JOIN "report"."sites" AS "Site" ON "report"."payments"."site_id" = "Site"."id" GROUP BY "Site"."name" ORDER BY "avg" DESC`,
		`SELECT COUNT(DISTINCT "source"."patient_id") FROM (SELECT * FROM "report"."appointments" WHERE "report"."appointments"."start_date" BETWEEN date '2026-01-01' AND date '2026-06-30') AS "source"`,
		`SELECT extract(year FROM age(DATE '2026-07-01', "date_of_birth"))::int / 10 * 10 AS "age", count(*) FROM patients WHERE active GROUP BY 1 ORDER BY 1`,
		`SELECT * FROM "report"."treatment_plan_items" LIMIT 2000`,
	} {
		found, err := pool.QueryContext(t.Context(), "-- Metabase\n"+query)
		if err != nil {
			t.Errorf("%v\n%s", err, query)
			continue
		}
		if !found.Next() {
			t.Errorf("no rows: %v\n%s", found.Err(), query)
		}
		found.Close()
	}
	// The day is that of the practice, in whatever zone the session is.
	for _, zone := range []string{"UTC", "Pacific/Auckland"} {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(t.Context(), "SET timezone = '"+zone+"'"); err != nil {
			t.Fatal(err)
		}
		if n := storetest.Value(t, conn, "SELECT count(*) FROM appointments WHERE start_date <> (start_time AT TIME ZONE 'Europe/London')::date"); n != "0" {
			t.Errorf("in %s, %s days are wrong", zone, n)
		}
		conn.Close()
	}
}

// TestVerifyFindsChangedViews changes views by hand in ways that open them, or lose them.
func TestVerifyFindsChangedViews(t *testing.T) {
	t.Parallel()
	owner, _, _ := hired(t)
	if err := migrate.Verify(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{
		"ALTER VIEW report.payments SET (security_barrier = off)",
		"DROP VIEW report.payments",
		"CREATE OR REPLACE VIEW report.payments WITH (security_barrier) AS SELECT t.id, t.patient_id, t.site_id, (t.amount / 100.0)::numeric(14,2) AS amount FROM public.payments AS t",
		"COMMENT ON COLUMN report.payments.amount IS 'Other'",
		"REVOKE SELECT ON report.payments FROM PUBLIC",
		"GRANT UPDATE ON report.payments TO PUBLIC",
		"CREATE VIEW report.patients_all AS SELECT * FROM public.patients",
	} {
		tx, err := owner.SQL.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(change, "CREATE OR REPLACE") {
			change = "DROP VIEW report.payments; " + change
		}
		if _, err := tx.ExecContext(t.Context(), change); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		found, err := analyst.Differences(t.Context(), tx, store.Tables(owner.Dialect))
		if err != nil || len(found) != 1 || !strings.HasPrefix(found[0], "pa") {
			t.Errorf("%s: %v, %v", change, found, err)
		}
		tx.Rollback()
	}
}
