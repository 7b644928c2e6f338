package report_test

import (
	"context"
	"testing"
	"time"

	"chairside/ent"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/store"
	"chairside/internal/test/harness"
	"chairside/internal/test/testdb"
	"chairside/internal/test/testkeys"
)

func TestMain(m *testing.M) { harness.Main(m) }

// today is the day as of which the practices are seeded.
var today = testdb.Day

// ours is SQL for the ID of the main practice.
const ours = "(SELECT id FROM practices WHERE slug = 'demo')"

// practice is a database whose practices are large enough for all cases to occur.
type practice struct {
	*store.DB
	ctx  context.Context // of a caller of the main practice
	zone *time.Location
}

// each runs a test on both databases, with its own copy of the data.
func each(t *testing.T, test func(t *testing.T, p practice)) {
	t.Helper()
	t.Parallel()
	for name, url := range map[string]func(testing.TB) string{"sqlite": testdb.Reported.SQLite, "postgres": testdb.Reported.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := store.Open(t.Context(), url(t))
			if err != nil {
				t.Fatal(err)
			}
			db.Keys = testkeys.Keys()
			t.Cleanup(func() { db.Close() })
			test(t, practice{DB: db}.as(t, "demo"))
		})
	}
}

// as returns the practice with the slug.
func (p practice) as(t testing.TB, slug string) practice {
	t.Helper()
	ctx := (&harness.Env{DB: p.DB}).As(t, slug)
	p.zone = principal.Must(ctx).Zone
	p.ctx = clock.With(ctx, harness.Now)
	return p
}

// limited returns the practice as seen by a caller confined to a site.
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
	f.Keys = p.Keys
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

// tx runs work in a transaction.
func (p practice) tx(t testing.TB, work func(tx *ent.Client) error) {
	t.Helper()
	if err := p.Tx(p.ctx, work); err != nil {
		t.Fatal(err)
	}
}
