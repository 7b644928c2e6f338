package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"chairside/internal/diary"
	"chairside/internal/test/harness"
)

// siteID parses the id of a site.
func siteID(t *testing.T, s string) *uuid.UUID {
	t.Helper()
	id, err := uuid.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return &id
}

// rota returns the rows of a practitioner as text: day, start, end, and breaks.
func rota(t *testing.T, w *world, id int64, after, before string) (rows []string) {
	t.Helper()
	query := url.Values{"after": {after}, "before": {before}, "practitioner_id": {fmt.Sprint(id)}, "per_page": {"100"}}
	for _, r := range w.Get(t, "/v1/rota_practitioner_diaries?"+query.Encode(), w.token).Status(t, 200).List(t, "rota_practitioner_diaries") {
		r := r.(row)
		line := text(r["day"]) + " " + text(r["start_time"]) + " " + text(r["end_time"])
		for _, b := range r["breaks"].([]any) {
			line += " " + text(b.(row)["start_time"]) + " " + text(b.(row)["end_time"])
		}
		if (r["unavailable"] == true) != (r["start_time"] == nil) {
			t.Errorf("%v contradicts itself", r)
		}
		rows = append(rows, line)
	}
	return rows
}

func TestRotaShowsWorkingSessions(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		id := hire(t, e,
			diary.Hours{Weekday: time.Monday, Start: 8 * 60, Finish: 12 * 60}, diary.Hours{Weekday: time.Monday, Start: 13 * 60, Finish: 17 * 60},
			diary.Hours{Weekday: time.Monday, Start: 17 * 60, Finish: 18 * 60}, diary.Hours{Weekday: time.Sunday, Start: 0, Finish: 6 * 60})
		const offset = ":00.000+01:00"
		for _, c := range []struct {
			after, before string
			want          []string
		}{
			{"2026-07-06", "2026-07-08", []string{
				"2026-07-06 2026-07-06T08:00" + offset + " 2026-07-06T18:00" + offset + " 2026-07-06T12:00" + offset + " 2026-07-06T13:00" + offset,
				"2026-07-07  ",
			}},
			{"2026-07-07T23:59", "2026-07-08T00:01", []string{"2026-07-07  ", "2026-07-08  "}},
			{"2026-10-25", "2026-10-26", []string{"2026-10-25 2026-10-25T00:00:00.000+01:00 2026-10-25T06:00:00.000+00:00"}},                         // 25 hours
			{"2026-03-29T00:00:00Z", "2026-03-29T00:00:00.001Z", []string{"2026-03-29 2026-03-29T00:00:00.000+00:00 2026-03-29T06:00:00.000+01:00"}}, // 23 hours
		} {
			if got := rota(t, w, id, c.after, c.before); !slices.Equal(got, c.want) {
				t.Errorf("%s to %s: got %q, want %q", c.after, c.before, got, c.want)
			}
		}
	})
}

func TestRotaNeedsAWindow(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		token := e.Token(t, "appointment:read")
		for query, params := range map[string][]string{
			"": {"after", "before"}, "after=2026-07-01": {"before"}, "before=2026-07-01": {"after"}, "after=x&before=2026-07-01": {"after"},
			"after=2026-07-01&before=2026-07-01": {"before"}, "after=2026-07-01&before=2027-07-03": {"before"}, "after=2026-07-02&before=2026-07-01": {"before"},
		} {
			e.Get(t, "/v1/rota_practitioner_diaries?"+query, token).Error(t, 400, "invalid_parameter", params...)
		}
		e.Get(t, "/v1/rota_practitioner_diaries?after=2026-07-01&before=2027-07-02", token).Status(t, 200)
		e.Get(t, "/v1/rota_practitioner_diaries?after=2026-07-01&before=2027-07-02", e.Token(t, "practice")).Error(t, 403, "insufficient_scope")
	})
}

func TestRotaPagesAndFilters(t *testing.T) {
	harness.Each(t, func(t *testing.T, e *harness.Env) {
		w := newWorld(t, e)
		id := hire(t, e) // without sessions: the practice's opening hours
		working := rota(t, w, id, "2026-07-06", "2026-07-07")
		if len(working) != 1 || working[0] == "2026-07-06  " {
			t.Errorf("without sessions: %q, want the opening hours", working)
		}
		dismiss(t, e, id)
		const window = "/v1/rota_practitioner_diaries?after=2026-07-06&before=2026-07-13"
		if got := rota(t, w, id, "2026-07-06", "2026-07-07"); got != nil {
			t.Errorf("an inactive practitioner is listed: %q", got)
		}
		inactive := e.Get(t, window+"&include_inactive_practitioners=true&practitioner_id="+fmt.Sprint(id), w.token).Status(t, 200)
		if got := inactive.Column(t, "rota_practitioner_diaries", "unavailable"); !slices.Equal(got, []string{"true", "true", "true", "true", "true", "true", "true"}) {
			t.Errorf("an inactive practitioner: unavailable %v", got)
		}
		var all, paged []string
		active := e.Get(t, "/v1/practitioners?active=true&per_page=100", w.token).Status(t, 200).Column(t, "practitioners", "id")
		for day := 6; day < 13; day++ {
			for _, p := range active {
				all = append(all, fmt.Sprintf("2026-07-%02d %s", day, p))
			}
		}
		for page := 1; ; page++ {
			res := e.Get(t, fmt.Sprintf("%s&per_page=9&page=%d", window, page), w.token).Status(t, 200)
			if total := res.Text(t, "meta.total"); total != fmt.Sprint(len(all)) {
				t.Errorf("total %s, want %d", total, len(all))
			}
			days, people := res.Column(t, "rota_practitioner_diaries", "day"), res.Column(t, "rota_practitioner_diaries", "practitioner_id")
			for i := range days {
				paged = append(paged, days[i]+" "+people[i])
			}
			if len(days) == 0 {
				break
			}
		}
		if !slices.Equal(paged, all) {
			t.Errorf("got %v, want %v", paged, all)
		}
		site := w.sites[active[0]]
		for _, token := range []string{w.token, e.TokenOf(t, "admin@demo.chairside.test", "appointment", siteID(t, site))} {
			query := window + "&per_page=100"
			if token == w.token {
				query += "&site_id=" + site
			}
			people := e.Get(t, query, token).Status(t, 200).Column(t, "rota_practitioner_diaries", "practitioner_id")
			if len(people) == 0 {
				t.Error("the site has no rota")
			}
			for _, p := range people {
				if w.sites[p] != site {
					t.Errorf("practitioner %s of another site is listed", p)
				}
			}
		}
		other := e.TokenOf(t, "admin@second.chairside.test", "appointment", nil)
		if rows := e.Get(t, window+"&practitioner_id="+active[0], other).Status(t, 200).List(t, "rota_practitioner_diaries"); len(rows) > 0 {
			t.Error("a practitioner of another practice is listed")
		}
	})
}
