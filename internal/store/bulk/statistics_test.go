package bulk_test

import (
	"fmt"
	"testing"

	"chairside/internal/store/bulk"
	"chairside/internal/store/storetest"
)

// TestSQLitePlansOnce checks the statistics after a bulk load: no samples, for which SQLite would
// plan each statement again, and averages as if all rows belonged to one practice.
func TestSQLitePlansOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, "sqlite:"+t.TempDir()+"/test.db")
	ctx := t.Context()
	storetest.Exec(t, db, "CREATE TABLE visits (id integer NOT NULL PRIMARY KEY, practice_id text NOT NULL, day integer NOT NULL)")
	storetest.Exec(t, db, "CREATE INDEX visits_practice ON visits (practice_id)")
	storetest.Exec(t, db, "CREATE INDEX visits_day ON visits (day, practice_id)")
	storetest.Exec(t, db, "CREATE INDEX visits_practice_day ON visits (practice_id, day, id)")
	err := bulk.Load(ctx, db, func(b *bulk.Tx) error {
		err := b.Table(ctx, "visits", []string{"practice_id", "day"}, func(w *bulk.RowWriter) error {
			for i := range 120 {
				if err := w.Row(fmt.Sprint("practice ", i%10), i%5); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return b.Analyze(ctx, "visits")
	})
	if err != nil {
		t.Fatal(err)
	}
	var samples int
	if err := db.SQL.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_stat4").Scan(&samples); err != nil || samples != 0 {
		t.Errorf("%d samples, %v", samples, err)
	}
	for index, want := range map[string]string{
		"visits_practice":     "120 120",
		"visits_day":          "120 24 12",
		"visits_practice_day": "120 120 12 1",
	} {
		var got string
		if err := db.SQL.QueryRowContext(ctx, "SELECT stat FROM sqlite_stat1 WHERE idx = $1", index).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", index, got, err, want)
		}
	}
}

// TestSQLiteMeasuresGrownTables checks that Measure updates the statistics of a table only once
// it has grown tenfold.
func TestSQLiteMeasuresGrownTables(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, "sqlite:"+t.TempDir()+"/test.db")
	ctx := t.Context()
	storetest.Exec(t, db, "CREATE TABLE visits (id integer NOT NULL PRIMARY KEY, practice_id text NOT NULL, day integer NOT NULL)")
	storetest.Exec(t, db, "CREATE INDEX visits_practice_day ON visits (practice_id, day, id)")
	rows := 0
	for _, grown := range []struct {
		to   int
		want string
	}{{100, "100 100 25 1"}, {150, "100 100 25 1"}, {2000, "2000 2000 500 1"}} {
		for ; rows < grown.to; rows++ {
			storetest.Exec(t, db, "INSERT INTO visits (practice_id, day) VALUES ($1, $2)", fmt.Sprint("practice ", rows%2), rows%4)
		}
		if err := bulk.Measure(ctx, db); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := db.SQL.QueryRowContext(ctx, "SELECT stat FROM sqlite_stat1 WHERE idx = 'visits_practice_day'").Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != grown.want {
			t.Errorf("with %d rows: %q, want %q", rows, got, grown.want)
		}
		var samples int
		if err := db.SQL.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_stat4").Scan(&samples); err != nil || samples != 0 {
			t.Errorf("%d samples, %v", samples, err)
		}
	}
}
