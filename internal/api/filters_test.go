package api_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// zone is the time zone of the seeded practices.
var zone = func() *time.Location {
	loc, err := time.LoadLocation("Europe/London")
	if err != nil {
		panic(err)
	}
	return loc
}()

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// instant parses a time or a date of a response.
func instant(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t
		}
	}
	return time.Time{}
}

// equal returns a filter on the member of the same name.
func equal(param string) filter {
	return filter{param, func(r row) string { return text(r[param]) }, func(_ *world, r row, value string) bool { return text(r[param]) == value }}
}

// compared returns a filter that compares a time or a date.
func compared(param, member string, keep func(order int) bool) filter {
	return filter{param, func(r row) string { return text(r[member]) }, func(_ *world, r row, value string) bool {
		return r[member] != nil && keep(instant(text(r[member])).Compare(instant(value)))
	}}
}

func from(param, member string) filter { // inclusive
	return compared(param, member, func(order int) bool { return order >= 0 })
}

func until(param, member string) filter { // inclusive
	return compared(param, member, func(order int) bool { return order <= 0 })
}

func after(param, member string) filter { // exclusive
	return compared(param, member, func(order int) bool { return order > 0 })
}

func before(param, member string) filter { // exclusive
	return compared(param, member, func(order int) bool { return order < 0 })
}

func onDay(param, member string) filter {
	return filter{param, func(r row) string { return text(r[member])[:len(time.DateOnly)] }, func(_ *world, r row, value string) bool {
		return strings.HasPrefix(text(r[member]), value)
	}}
}

// waits returns the filter of the waiting list.
func waits(param string) filter {
	isWaiting := func(r row) string { return fmt.Sprint(r["removed_at"] == nil && r["appointment_id"] == nil) }
	return filter{param, isWaiting, func(_ *world, r row, value string) bool { return isWaiting(r) == value }}
}

func credit(param string) filter {
	return filter{param, func(r row) string {
		if text(r["current_balance"])[0] == '-' {
			return "debit"
		}
		return "credit"
	}, func(_ *world, r row, value string) bool {
		balance := hundredths(r["current_balance"])
		return value == "credit" && balance > 0 || value == "debit" && balance < 0
	}}
}

func completed(param string) filter {
	return filter{param, func(r row) string {
		return map[bool]string{true: "completed", false: "active"}[r["completed"].(bool)]
	}, func(_ *world, r row, value string) bool { return (value == "completed") == r["completed"].(bool) }}
}

func practitionersSite(param string) filter {
	return filter{param, func(row) string { return "" }, func(w *world, r row, value string) bool { return w.sites[text(r["practitioner_id"])] == value }}
}

func patientsSite(param string) filter {
	return filter{param, func(row) string { return "" }, func(w *world, r row, value string) bool { return w.homes[text(r["patient_id"])] == value }}
}

func cancelled(param string) filter {
	return filter{param, func(r row) string { return text(r["state"] == "Cancelled" || r["state"] == "Did not attend") }, func(_ *world, r row, value string) bool {
		return value == "true" || r["state"] != "Cancelled" && r["did_not_attend_at"] == nil
	}}
}

// hundredths returns a decimal as a number.
func hundredths(v any) (n int64) {
	s := strings.ReplaceAll(text(v), ".", "")
	fmt.Sscan(s, &n)
	return n
}

// valuesFor returns values to test a filter with: those of the first, the last and some middle
// rows and, for times and dates, the next one after each, to test both sides of every bound.
func (w *world) valuesFor(f filter, rows []row) []string {
	seen := map[string]bool{}
	for _, i := range []int{0, len(rows) / 3, len(rows) / 2, len(rows) - 1} {
		value := f.value(rows[i])
		if f.param == "site_id" && value == "" { // through the practitioner, or the patient
			value = cmp.Or(w.sites[text(rows[i]["practitioner_id"])], w.homes[text(rows[i]["patient_id"])])
		}
		if value == "" {
			continue
		}
		seen[value] = true
		if at := instant(value); !at.IsZero() && len(value) > len(time.DateOnly) {
			seen[at.Add(time.Millisecond).In(zone).Format("2006-01-02T15:04:05.000-07:00")] = true
		} else if !at.IsZero() {
			seen[at.AddDate(0, 0, 1).Format(time.DateOnly)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// check compares a filtered list with the expected rows, in order, and its total with their
// number.
func (w *world) check(t *testing.T, r resource, rows []row, filters []filter, values []string) (kept int) {
	t.Helper()
	query := w.base(r)
	var want []row
	for _, candidate := range rows {
		keep := true
		for i, f := range filters {
			query.Set(f.param, values[i])
			keep = keep && f.keep(w, candidate, values[i])
		}
		if keep {
			want = append(want, candidate)
		}
	}
	if got := w.all(t, r.path, r.many, query); !slices.Equal(ids(got), ids(want)) {
		t.Errorf("%s?%s: got %d rows %v, want %d rows %v", r.path, query.Encode(), len(got), head(ids(got)), len(want), head(ids(want)))
	}
	return len(want)
}

func head(s []string) []string { return s[:min(len(s), 12)] }

// eachFilterSelects compares each filter with a selection in Go.
func eachFilterSelects(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	for _, f := range r.everyFilter() {
		fewer := false
		for _, value := range w.valuesFor(f, rows) {
			fewer = w.check(t, r, rows, []filter{f}, []string{value}) < len(rows) || fewer
		}
		if !fewer && len(rows) > 1 {
			t.Logf("%s of %s matches every row", f.param, r.path)
		}
	}
}

// filtersCombine tests every two filters together (spec.md, Appointments).
func filtersCombine(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	middle := []row{rows[len(rows)/2]}
	for i, a := range r.everyFilter() {
		for _, b := range r.everyFilter()[i+1:] {
			va, vb := w.valuesFor(a, middle), w.valuesFor(b, middle)
			if len(va) == 0 || len(vb) == 0 || a.param == "updated_after" && b.param == "updated_since" {
				continue // the same parameter, or no value to try
			}
			w.check(t, r, rows, []filter{a, b}, []string{va[0], vb[0]})
		}
	}
}

// unknownIDsMatchNothing: well-formed ids that no record has.
func unknownIDsMatchNothing(t *testing.T, w *world, r resource) {
	for _, f := range r.filters {
		if !strings.HasSuffix(f.param, "_id") {
			continue
		}
		values := []string{"0", "999999999", "9223372036854775807", "99999999999999999999999999"}
		if kind := r.everyField(false)[f.param]; strings.HasPrefix(kind, "uuid") {
			values = []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}
		} else if kind == "" {
			values = []string{"019f3a52-7d1c-7b6e-8c55-0a1b2c3d4e5f"}
		}
		for _, value := range values {
			query := w.base(r)
			query.Set(f.param, value)
			if rows := w.all(t, r.path, r.many, query); len(rows) > 0 {
				t.Errorf("%s=%s matches %d rows", f.param, value, len(rows))
			}
		}
	}
}

// malformedFiltersAreRefused: a malformed value of any parameter is 400 and names it.
func malformedFiltersAreRefused(t *testing.T, w *world, r resource) {
	bad := map[string]string{"page": "0", "per_page": "none", "sort_by": "nonsense", "sort_direction": "up"}
	for _, f := range r.everyFilter() {
		bad[f.param] = "nonsense!"
	}
	for param, value := range bad {
		query := w.base(r)
		query.Set(param, value)
		if param == "updated_since" {
			param = "updated_after"
		}
		w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Error(t, 400, "invalid_parameter", param)
	}
}

// dateOnlyMeansTheStartOfTheLocalDay: a date is accepted where a time is expected.
func dateOnlyMeansTheStartOfTheLocalDay(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	for _, f := range r.everyFilter() {
		value := f.value(rows[len(rows)/2])
		if len(value) <= len(time.DateOnly) || instant(value).IsZero() {
			continue
		}
		day := value[:len(time.DateOnly)]
		want := 0
		for _, candidate := range rows {
			if f.keep(w, candidate, day) {
				want++
			}
		}
		query := w.base(r)
		query.Set(f.param, day)
		if got := w.all(t, r.path, r.many, query); len(got) != want {
			t.Errorf("%s=%s: %d rows, want %d", f.param, day, len(got), want)
		}
	}
}

// aShownTimeCanBeSentBackInAnyForm: the same instant in several formats selects the same rows.
func aShownTimeCanBeSentBackInAnyForm(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	shown := instant(text(rows[len(rows)/2]["updated_at"]))
	var want []string
	for i, form := range []string{
		shown.In(zone).Format("2006-01-02T15:04:05.000-07:00"), shown.UTC().Format("2006-01-02T15:04:05.000Z"),
		shown.In(time.FixedZone("", 19800)).Format("2006-01-02T15:04:05.000-07:00"), shown.In(zone).Format("2006-01-02T15:04:05.000"),
	} {
		query := url.Values{"updated_after": {form}}
		maps.Copy(query, w.base(r))
		got := ids(w.all(t, r.path, r.many, query))
		if i == 0 {
			want = got
		}
		if !slices.Equal(got, want) || !slices.Contains(got, text(rows[len(rows)/2]["id"])) {
			t.Errorf("updated_after=%s: %d rows, want %d", form, len(got), len(want))
		}
	}
}
