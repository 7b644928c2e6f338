package guides_test

import (
	"database/sql"
	"slices"
	"testing"

	"chairside/internal/guides"
	"chairside/internal/store"
	"chairside/internal/test/testdb"
)

// TestCapacityQueries runs the queries of the guide to capacity. Each returns rows; that of tables and
// indexes has the appointments, and one of their indexes.
func TestCapacityQueries(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), testdb.Practice.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	i, found := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == "capacity" }), map[string]bool{}
	ran := 0
	for _, b := range guides.All()[i].Blocks {
		if b.Language != "sql" {
			continue
		}
		ran++
		lines := readAll(t, db.SQL, b.Text)
		if len(lines) == 0 {
			t.Errorf("no rows:\n%s", b.Text)
		}
		for _, line := range lines {
			found[line[0]+" "+line[1]] = true
		}
	}
	if ran != 4 || !found["appointments "] || !found["appointments appointment_diary"] {
		t.Errorf("%d queries; the sizes are those of %v", ran, found)
	}
}

// readAll returns the rows of a query as text.
func readAll(t *testing.T, db *sql.DB, query string) (lines [][]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		line, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range line {
			into[i] = &line[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text := make([]string, len(columns))
		for i := range line {
			text[i] = line[i].String
		}
		lines = append(lines, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
