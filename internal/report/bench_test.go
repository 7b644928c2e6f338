package report_test

import (
	"context"
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/report"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

// BenchmarkReports runs every report for one year of a large practice on PostgreSQL, and
// logs the indexes that its queries use:
//
//	CHAIRSIDE_BENCH_PATIENTS=200000 CHAIRSIDE_BENCH_YEARS=4 go test -run '^$' -bench Reports -benchtime 3x -timeout 1h ./internal/report
//
// CHAIRSIDE_BENCH_DATABASE is the URL of a seeded database to use instead of a new one, and
// CHAIRSIDE_BENCH_AS_OF (YYYY-MM-DD) the day as of which it was seeded.
func BenchmarkReports(b *testing.B) {
	asOf := today
	if day := os.Getenv("CHAIRSIDE_BENCH_AS_OF"); day != "" {
		asOf = civil.MustParse(day)
	}
	url := os.Getenv("CHAIRSIDE_BENCH_DATABASE")
	fresh := url == ""
	if fresh {
		url = pgtest.New(b)
	}
	db, err := store.Open(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	b.Cleanup(func() { db.Close() })
	if fresh {
		if _, err := migrate.Up(b.Context(), db); err != nil {
			b.Fatal(err)
		}
		o := seed.Options{Patients: number("CHAIRSIDE_BENCH_PATIENTS", 2000), Years: number("CHAIRSIDE_BENCH_YEARS", 2), RandomSeed: 1, AsOf: asOf}
		if err := seed.Run(b.Context(), db, o); err != nil {
			b.Fatal(err)
		}
	}
	p := practice{DB: db}.as(b, "demo")
	p.ctx = clock.With(p.ctx, asOf.In(p.zone).Add(12*time.Hour))
	for i := range report.All {
		r := &report.All[i]
		b.Run(r.Name, func(b *testing.B) {
			f := year(r, asOf)
			for b.Loop() {
				p.ask(b, r.Name, f)
			}
			b.StopTimer()
			b.Logf("indexes: %s", strings.Join(p.indexes(b, r, f), ", "))
		})
	}
}

// year is the filter for the year up to today, or for today if the report covers one day.
func year(r *report.Report, today civil.Date) report.Filter {
	from, to := r.Period(today)
	if from != to {
		from, to = today.AddMonths(-12).AddDays(1), today
	}
	return report.Filter{From: from, To: to}
}

// number reads an integer from the environment.
func number(variable string, fallback int) int {
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return fallback
	}
	return n
}

var usesIndex = regexp.MustCompile(`Index (?:Only )?Scan (?:Backward )?using (\S+)|Bitmap Index Scan on (\S+)`)

// indexes returns the names of the indexes that PostgreSQL uses for a report, and the
// tables that it scans whole.
func (p practice) indexes(b *testing.B, r *report.Report, f report.Filter) (names []string) {
	spy := &spy{Driver: entsql.OpenDB(p.Dialect, p.SQL)}
	if _, err := r.Run(p.ctx, ent.NewClient(ent.Driver(spy)), f); err != nil {
		b.Fatal(err)
	}
	tx, err := p.SQL.BeginTx(b.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	for _, q := range spy.queries {
		rows, err := tx.QueryContext(b.Context(), "EXPLAIN "+q.text, q.args...)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				b.Fatal(err)
			}
			if _, table, whole := strings.Cut(line, "Seq Scan on "); whole {
				names = append(names, "(all of "+strings.Fields(table)[0]+")")
			}
			if found := usesIndex.FindStringSubmatch(line); found != nil {
				names = append(names, found[1]+found[2])
			}
		}
		rows.Close()
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// spy records the queries that pass through it.
type spy struct {
	dialect.Driver
	queries []query
}

type query struct {
	text string
	args []any
}

func (s *spy) Query(ctx context.Context, text string, args, v any) error {
	s.queries = append(s.queries, query{text, args.([]any)})
	return s.Driver.Query(ctx, text, args, v)
}
