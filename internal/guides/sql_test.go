package guides_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/entx/table"
	"chairside/internal/guides"
	"chairside/internal/principal"
	"chairside/internal/store"
	"chairside/internal/store/analyst"
	"chairside/internal/test/testdb"
)

// TestSQLGuideNamesWhatIdentifiesAPatient: the guide says which columns of report.patients could identify a patient.
func TestSQLGuideNamesWhatIdentifiesAPatient(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == "sql" })
	_, personal, _ := strings.Cut(guides.All()[i].Source, "- **Personal data**")
	personal, _, _ = strings.Cut(personal, "\n- ")
	v := slices.IndexFunc(ent.Views, func(v table.View) bool { return v.Name == "patients" })
	for _, c := range ent.Views[v].Columns {
		name := strings.ReplaceAll(c.Name, "_", " ")
		if slices.Contains([]string{"date_of_birth", "gender", "town", "county", "postcode", "ethnicity", "occupation"}, c.Name) && !strings.Contains(personal, name) {
			t.Errorf("the guide does not say that the views have %s", name)
		}
	}
}

// TestQueries runs the queries of the guide to SQL on both databases. Each returns rows.
func TestQueries(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(guides.All(), func(g guides.Guide) bool { return g.Name == "sql" })
	var queries []string
	for _, b := range guides.All()[i].Blocks {
		if b.Language == "sql" {
			queries = append(queries, b.Text)
		}
	}
	if len(queries) < 5 {
		t.Fatalf("only %d queries", len(queries))
	}
	for name, address := range map[string]func(testing.TB) string{"sqlite": testdb.Practice.SQLite, "postgres": testdb.Practice.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := store.Open(t.Context(), address(t))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			p := db.Ent.Practice.Query().AllX(principal.AsSystem(t.Context()))[0]
			zone, err := time.LoadLocation(p.TimeZone)
			if err != nil {
				t.Fatal(err)
			}
			pool := db.SQL
			if db.File != "" {
				if pool, err = sql.Open("sqlite", "file:"+db.File+"?mode=ro"); err != nil {
					t.Fatal(err)
				}
				defer pool.Close()
				pool.SetMaxOpenConns(1)
				_, err = pool.ExecContext(t.Context(), analyst.Script(p.ID, zone))
			} else {
				_, err = pool.ExecContext(t.Context(), "INSERT INTO analysts (practice_id, role, created_at) VALUES ($1, session_user, now())", p.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range queries {
				if db.File != "" {
					query = strings.ReplaceAll(query, "report.", "report_")
				}
				rows, err := pool.QueryContext(t.Context(), query)
				if err != nil {
					t.Errorf("%v\n%s", err, query)
					continue
				}
				if !rows.Next() {
					t.Errorf("no rows: %v\n%s", rows.Err(), query)
				}
				rows.Close()
			}
		})
	}
}
