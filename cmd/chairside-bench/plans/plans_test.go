package plans_test

import (
	"database/sql"
	"net/url"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/lib/pq" // the driver that Chairside uses

	"chairside/cmd/chairside-bench/plans"
	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const many = 1000

// TestOffences sends each statement through the proxy, as Chairside does, and explains it
// with its arguments.
func TestOffences(t *testing.T) {
	where := pgtest.New(t)
	db, err := pgx.Connect(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	for _, statement := range []string{
		"CREATE TABLE visits (id bigint PRIMARY KEY, practice text, state text, note text)",
		"INSERT INTO visits SELECT n, 'o''brien', CASE WHEN n % 5000 = 0 THEN 'rare' ELSE 'usual' END, md5(n::text) FROM generate_series(1, 20000) n",
		"CREATE INDEX visits_state ON visits (state, id)",
		"VACUUM ANALYZE visits",
	} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	big, err := plans.Big(t.Context(), db, many)
	if err != nil || !big["visits"] || len(big) != 1 {
		t.Fatalf("big tables: %v, %v", big, err)
	}

	address, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := plans.Listen(address.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	address.Host = proxy.Addr()
	client, err := sql.Open("postgres", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	for _, c := range []struct {
		statement string
		args      []any
		want      []string
		sorts     string // value of enable_sort
	}{
		{"SELECT id FROM visits WHERE id = $1", []any{17}, nil, "on"},
		{"SELECT id FROM visits WHERE state = $1 AND practice = $2 ORDER BY id LIMIT 5", []any{"rare", "o'brien"}, nil, "on"},
		{"SELECT id FROM visits WHERE note = $1", []any{"x"}, []string{"reads all of visits"}, "on"},
		{"SELECT id FROM visits WHERE id > $1 ORDER BY note LIMIT 5", []any{0}, []string{"sorts 20000 rows", "reads all of visits"}, "on"},
		{"SELECT id FROM visits WHERE practice = $1 AND note IS NULL ORDER BY id LIMIT 5", []any{"o'brien"}, []string{"discards 20000 rows of visits (visits_pkey)"}, "off"},
		{"SELECT $1::text", []any{nil}, nil, "on"},
	} {
		if _, err := proxy.Take(); err != nil {
			t.Fatal(err)
		}
		rows, err := client.Query(c.statement, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		recorded, err := proxy.Take()
		if err != nil || len(recorded) != 1 || recorded[0].Text != c.statement || !recorded[0].Explains() {
			t.Fatalf("recorded %v, %v", recorded, err)
		}
		if _, err := db.Exec(t.Context(), "SET enable_sort = "+c.sorts); err != nil {
			t.Fatal(err)
		}
		executed, err := plans.Explain(t.Context(), db, recorded[0])
		if err != nil {
			t.Fatalf("%s: %v", c.statement, err)
		}
		if got := executed.Offences(big, many); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q; %s", c.statement, got, c.want, executed.First.Shape())
		}
	}
}

// TestExcused: rows may be sorted up to a limit, and discarded beyond it.
func TestExcused(t *testing.T) {
	plain := plans.Request{Operation: "listInvoices"}
	one, two := plain, plain
	one.Filters, two.Filters = 1, 2
	byState := plans.Request{Operation: "listAppointments", What: "by state asc, cancelled=true", Filters: 1}
	byStart := byState
	byStart.What = "by start_time asc, cancelled=true"
	for _, c := range []struct {
		request       plans.Request
		kind, offence string
		total         int
		excused       bool
	}{
		{plain, plans.Count, "reads all of invoices", plans.Wide + 1, false},
		{plain, plans.Picked, "sorts 60000 rows", plans.Wide + 1, false},
		{plain, plans.Rows, "discards 60000 rows of invoices (x)", plans.Wide + 1, false},
		{one, plans.Count, "reads all of invoices", plans.Wide + 1, true},
		{one, plans.Count, "reads all of invoices", plans.Wide, false},
		{one, plans.Rows, "reads all of invoices", plans.Wide + 1, false},
		{one, plans.Picked, "sorts 60000 rows", 60000, true},
		{one, plans.Rows, "sorts 60000 rows", 60000, false},
		{one, plans.Picked, "sorts 200001 rows, from the sixth execution on", plans.Wide + 1, true},
		{one, plans.Picked, "sorts 200002 rows", plans.Wide + 1, false},
		{one, plans.Rows, "discards 60000 rows of invoices (x)", plans.Wide + 1, true},
		{one, plans.Rows, "discards 60000 rows of invoices (x)", plans.Wide, false},
		{two, plans.Picked, "discards 60000 rows of invoices (x)", 0, true},
		{two, plans.Rows, "discards 60000 rows of invoices (x)", 0, false},
		{two, plans.Picked, "sorts 200002 rows", plans.Wide, false},
		{two, plans.Picked, "sorts 200002 rows", plans.Wide + 1, true},
		{two, plans.Picked, "takes more than 30s", plans.Wide + 1, false},
		{byState, plans.Rows, "sorts 90000 rows", plans.Wide + 1, true},
		{byState, plans.Rows, "sorts 90000 rows", plans.Wide, false},
		{byStart, plans.Rows, "sorts 90000 rows", plans.Wide + 1, false},
		{plans.Request{Operation: "listAccounts"}, plans.Sum, "reads all of accounts", 1, true},
		{plans.Request{Operation: "listAccounts"}, plans.Sum, "reads all of patients", 1, false},
	} {
		if got := c.request.Excused(c.kind, c.offence, c.total); (got != "") != c.excused {
			t.Errorf("%+v %s %s, %d rows: %q", c.request, c.kind, c.offence, c.total, got)
		}
	}
}

func TestStatementKind(t *testing.T) {
	for text, want := range map[string]string{
		`WITH "picked" AS (SELECT 1) SELECT 2`: plans.Picked,
		`WITH "kept" AS (SELECT 1) SELECT 2`:   plans.Rows,
		`SELECT COUNT(*) FROM visits`:          plans.Count,
		`SELECT SUM(n) FROM visits`:            plans.Sum,
		`SELECT "id" FROM visits`:              plans.Rows,
	} {
		if got := (plans.Statement{Text: text}).Kind(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
