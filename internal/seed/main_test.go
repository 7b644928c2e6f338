package seed

import (
	"cmp"
	"testing"
	"time"

	"chairside/internal/civil"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/localpg/pgtest"
	"chairside/internal/test/testkeys"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// demo returns the demo's options, on a Wednesday in summer time.
var demo = Options{RandomSeed: 1, AsOf: civil.MustParse("2026-07-01")}

// onBoth runs test with the URL of an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "sqlite:"+t.TempDir()+"/seed.db")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, pgtest.New(t))
	})
}

// open opens and migrates a database.
func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	db.Keys = testkeys.Keys()
	t.Cleanup(func() { db.Close() })
	if _, err := migrate.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// seeded opens and seeds a database.
func seeded(t *testing.T, url string, o Options) *store.DB {
	t.Helper()
	db := open(t, url)
	if err := Run(t.Context(), db, o); err != nil {
		t.Fatal(err)
	}
	return db
}

// generated returns the main practice's rows, without a database.
func generated(t *testing.T, o Options) *batch {
	t.Helper()
	zone, now := london(t), o.Now
	if now.IsZero() {
		now = morning(zone, o.AsOf)
	}
	calendar := newCalendar(zone, now, cmp.Or(o.Years, DefaultYears))
	r := newRandom(o.RandomSeed)
	ids, hash := newIDs(o.RandomSeed, map[string]int64{}), hashPassword(r)
	patients := cmp.Or(o.Patients, DefaultPatients)
	out := new(batch)
	newGenerator(r, ids, calendar, demoPractice(patients), hash, out).populate(patients)
	return out
}

func london(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(practiceTimeZone)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// number returns a query's single number.
func number(t *testing.T, db *store.DB, query string) int {
	t.Helper()
	var n int
	if err := db.SQL.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// textColumn returns the first column of a query's rows.
func textColumn(t *testing.T, db *store.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.SQL.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
