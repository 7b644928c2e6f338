package report_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/seed"
	"chairside/internal/store"
	"chairside/internal/store/migrate"
	"chairside/internal/test/harness"
	"chairside/internal/test/localpg/pgtest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// today is the day on which the seeded practices stand.
var today = civil.MustParse("2026-07-01")

// ours is the id of the main practice, in SQL.
const ours = "(SELECT id FROM practices WHERE slug = 'demo')"

// practice is a database with practices large enough for every case to occur.
type practice struct {
	*store.DB
	ctx  context.Context // acts for the main practice
	zone *time.Location
}

// each runs a test on both databases, with a copy of the data of its own.
func each(t *testing.T, test func(t *testing.T, p practice)) {
	t.Helper()
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": sqliteURL, "postgres": postgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := store.Open(t.Context(), url(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			test(t, practice{DB: db}.as(t, "demo"))
		})
	}
}

// as acts for the practice with a slug.
func (p practice) as(t testing.TB, slug string) practice {
	t.Helper()
	ctx := (&harness.Env{DB: p.DB}).As(t, slug)
	p.zone = principal.Must(ctx).Zone
	p.ctx = clock.With(ctx, harness.Now)
	return p
}

// limited acts for a caller who is limited to a site.
func (p practice) limited(site *ent.Site) practice {
	c := *principal.Must(p.ctx)
	c.SiteID = &site.ID
	p.ctx = principal.With(p.ctx, &c)
	return p
}

// ask runs a report.
func (p practice) ask(t testing.TB, name string, f report.Filter) *report.Answer {
	t.Helper()
	r, err := report.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var a *report.Answer
	err = p.View(p.ctx, func(client *ent.Client) (err error) {
		a, err = r.Ask(p.ctx, client, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// tx changes the practice.
func (p practice) tx(t testing.TB, work func(tx *ent.Client) error) {
	t.Helper()
	if err := p.Tx(p.ctx, work); err != nil {
		t.Fatal(err)
	}
}

func fill(url string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := migrate.Up(ctx, db); err != nil {
		return err
	}
	return seed.Run(ctx, db, seed.Options{Patients: 700, Years: 2, RandomSeed: 7, AsOf: today})
}

var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "chairside-report-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	if err := fill("sqlite:" + path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func sqliteURL(t testing.TB) string {
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, template, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

var postgresTemplate = sync.OnceValues(func() (string, error) {
	name, url, err := pgtest.Create("template0")
	if err != nil {
		return "", err
	}
	return name, fill(url)
})

func postgresURL(t testing.TB) string {
	if pgtest.Missing() != nil {
		return pgtest.New(t) // skips
	}
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal(err)
	}
	return pgtest.Clone(t, template)
}
