package api_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/ent"
	"chairside/ent/site"
	"chairside/ent/workingsession"
	"chairside/internal/principal"
	"chairside/internal/seed"
	"chairside/internal/test/harness"
)

// TestWorkingHoursAreCached: a second request reads only the diary.
func TestWorkingHoursAreCached(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		c, asked := e.Client(t, e.Token(t, "")), window(hire(t, e, mondays...))
		trips := int64(math.MaxInt64)
		for range 50 { // a slow machine may take longer than the cache is valid
			before := e.DB.RoundTrips()
			free(t, c, asked)
			trips = min(trips, e.DB.RoundTrips()-before)
		}
		if trips != 1 {
			t.Errorf("%d round trips", trips)
		}
	})
}

// rosters are changes to the working hours of a practitioner who works on Mondays.
var rosters = []struct {
	name string
	make func(ctx context.Context, tx *ent.Client, id int64) error
	want string
}{
	{"a session more", func(ctx context.Context, tx *ent.Client, id int64) error {
		at, err := tx.Site.Query().Order(site.ByID()).FirstID(ctx)
		if err != nil {
			return err
		}
		return tx.WorkingSession.Create().SetPractitionerID(id).SetSiteID(at).SetWeekday(int(time.Monday)).SetStartMinute(480).SetFinishMinute(540).Exec(ctx)
	}, "[08:00-12:00 240 13:00-17:00 240]"},
	{"a shorter session", func(ctx context.Context, tx *ent.Client, id int64) error {
		morning, err := morningOf(ctx, tx, id)
		if err != nil {
			return err
		}
		return tx.WorkingSession.UpdateOneID(morning).SetFinishMinute(660).Exec(ctx)
	}, "[09:00-11:00 120 13:00-17:00 240]"},
	{"a session less", func(ctx context.Context, tx *ent.Client, id int64) error {
		morning, err := morningOf(ctx, tx, id)
		if err != nil {
			return err
		}
		return tx.WorkingSession.DeleteOneID(morning).Exec(ctx)
	}, "[13:00-17:00 240]"},
	{"an inactive practitioner", func(ctx context.Context, tx *ent.Client, id int64) error {
		return tx.Practitioner.UpdateOneID(id).SetActive(false).Exec(ctx)
	}, "[]"},
	{"longer appointments", func(ctx context.Context, tx *ent.Client, _ int64) error { // last, because it applies to the whole practice
		return tx.Practice.UpdateOneID(principal.Must(ctx).PracticeID).SetMinimumAppointmentDuration(200).Exec(ctx)
	}, "[13:00-17:00 240]"},
}

// morningOf returns the session that starts at 9:00.
func morningOf(ctx context.Context, tx *ent.Client, practitioner int64) (uuid.UUID, error) {
	return tx.WorkingSession.Query().Where(workingsession.PractitionerID(practitioner), workingsession.StartMinute(540)).OnlyID(ctx)
}

// TestChangedWorkingHoursTakeEffect: at once in the process that changes them, within a second
// in others.
func TestChangedWorkingHoursTakeEffect(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": harness.SQLite, "postgres": harness.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := database(t)
			here, there := harness.Start(t, where), harness.Start(t, where)
			token, ctx := here.Token(t, ""), here.As(t, "demo")
			for _, roster := range rosters {
				id := hire(t, here, mondays...)
				asked := window(id)
				for _, e := range []*harness.Env{here, there} {
					if got := fmt.Sprint(free(t, e.Client(t, token), asked)); got != "[09:00-12:00 180 13:00-17:00 240]" {
						t.Errorf("before %s: %s", roster.name, got)
					}
				}
				here.Tx(t, ctx, func(tx *ent.Client) error { return roster.make(ctx, tx, id) })
				if got := fmt.Sprint(free(t, here.Client(t, token), asked)); got != roster.want {
					t.Errorf("%s: %s", roster.name, got)
				}
				soon, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a busy machine may take longer than a second
				for got := ""; got != roster.want; got = fmt.Sprint(free(t, there.Client(t, token), asked)) {
					if soon.Err() != nil {
						t.Fatalf("%s in another process: still %s", roster.name, got)
					}
					time.Sleep(20 * time.Millisecond)
				}
				cancel()
			}
		})
	}
}

// TestCachedWorkingHoursAreConfined: another practice or site does not get them from the
// cache.
func TestCachedWorkingHoursAreConfined(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		ctx, id := e.As(t, "demo"), hire(t, e, mondays...)
		at, err := e.DB.Ent.Site.Query().Order(site.ByID()).IDs(ctx) // hire uses the first site
		if err != nil || len(at) < 2 {
			t.Fatal(len(at), err)
		}
		whole, own, other := e.Token(t, ""), e.TokenOf(t, seed.DemoAdmin, "", &at[0]), e.TokenOf(t, seed.DemoAdmin, "", &at[1])
		for range 3 { // also from the cache, unless the machine is very slow
			for _, token := range []string{whole, own} {
				if got := free(t, e.Client(t, token), window(id)); len(got) != 2 {
					t.Errorf("who sees them: %v", got)
				}
			}
			for _, token := range []string{other, elsewhere(t, e)} {
				_, err := e.Client(t, token).ListAvailability(t.Context(), window(id))
				harness.Refused(t, err, 400, "invalid_parameter", "practitioner_ids")
			}
		}
	})
}
