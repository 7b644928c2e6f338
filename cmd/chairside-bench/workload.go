package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"chairside/cmd/chairside-bench/load"
)

// workload is one kind of request.
type workload struct {
	ID, Title string
	// Target is the lowest ratio of Chairside's rate to the hand-written server's, at the
	// judged size; 0 for none.
	Target float64
	// EqualTarget is the lowest ratio to the hand-written server that also writes audit
	// rows, counters, a log and metrics; only for writing workloads.
	EqualTarget float64
	// Growth is the lowest ratio of the rate at the largest size to that at the smallest;
	// 0 for none.
	Growth float64
	SQLite bool // also measured on SQLite
	Writes bool
	// Reports is the number of users of Chairside who show a year's income meanwhile.
	Reports int
	// requests are sent in turn and cover many places in the data; nil for bookings, which
	// are made when needed. A writing workload books once after each nine of them.
	requests func(ctx context.Context, d *dataset) ([]load.Request, error)
}

// on reports whether the workload runs on a server.
func (w workload) on(server string) bool {
	switch server {
	case equalPromises:
		return w.Writes
	case chairsideSQLite:
		return w.SQLite
	}
	return true
}

// workloads are in the order of measurement: writes last, so that reads see the seeded
// data.
var workloads = []workload{
	{ID: "W1", Title: "one appointment", Target: 0.85, Growth: 0.65, SQLite: true, requests: oneAppointment},
	{ID: "W2", Title: "25 appointments of a practitioner, with total", Target: 5, Growth: 0.65, SQLite: true, requests: ofPractitioner},
	{ID: "W3", Title: "100 patients, with total", Target: 8, Growth: 0.65, SQLite: true, requests: hundredPatients},
	{ID: "W4", Title: "page 1000 of appointments, with total", Target: 100, Growth: 0.5, SQLite: true, requests: deepPage},
	{ID: "W6", Title: "one invoice with its items", Target: 0.9, Growth: 0.65, SQLite: true, requests: oneInvoice},
	{ID: "W7", Title: "availability, 10 practitioners, 14 days", Target: 5, SQLite: true, requests: availability},
	{ID: "W8", Title: "appointments updated after a recent time", Target: 1.4, SQLite: true, requests: recentlyUpdated},
	{ID: "W9a", Title: "patients by a unique name", Growth: 0.65, requests: byName},
	{ID: "W9b", Title: "patients by phone", Growth: 0.65, requests: byPhone},
	{ID: "W9c", Title: "patients by e-mail", Growth: 0.65, requests: byEmail},
	{ID: "W5", Title: "book, with the overlap check", Target: 0.65, EqualTarget: 0.85, Writes: true},
	{ID: "W10", Title: "7 of W1, 2 of W2, 1 of W5, while a report runs", Writes: true, Reports: 1, requests: mixedReads},
}

// mixedReads requests seven single appointments for each two lists.
func mixedReads(ctx context.Context, d *dataset) (requests []load.Request, err error) {
	gets, err := d.requests(ctx, workload{ID: "W1", requests: oneAppointment})
	if err != nil {
		return nil, err
	}
	lists, err := d.requests(ctx, workload{ID: "W2", requests: ofPractitioner})
	for i := range len(gets) / readsPerGroup {
		for k := range readsPerGroup {
			from, n := gets, i*readsPerGroup+k
			if k == 3 || k == 7 {
				from = lists
			}
			requests = append(requests, from[n%len(from)])
		}
	}
	return requests, err
}

// readsPerGroup is the number of reads for each booking of a mixed workload.
const readsPerGroup = 9

// amongBookings returns n requests: a booking after each nine reads.
func (f *futureSlots) amongBookings(reads []load.Request, n int) (requests []load.Request) {
	bookings := f.bookings(n / (readsPerGroup + 1))
	for i, b := range bookings {
		for k := range readsPerGroup {
			requests = append(requests, reads[(i*readsPerGroup+k)%len(reads)])
		}
		requests = append(requests, b)
	}
	return requests
}

func oneAppointment(ctx context.Context, d *dataset) ([]load.Request, error) {
	ids, err := d.randomIDs(ctx, "appointments")
	return getRequests(ids, func(id int64) string { return fmt.Sprintf("/v1/appointments/%d", id) }), err
}

func oneInvoice(ctx context.Context, d *dataset) ([]load.Request, error) {
	ids, err := d.randomIDs(ctx, "invoices")
	return getRequests(ids, func(id int64) string { return fmt.Sprintf("/v1/invoices/%d", id) }), err
}

func ofPractitioner(ctx context.Context, d *dataset) ([]load.Request, error) {
	ids, err := column[int64](ctx, d, `SELECT practitioner_id FROM appointments WHERE practice_id = $1 AND cancelled_at IS NULL AND did_not_attend_at IS NULL
		GROUP BY practitioner_id HAVING count(*) > 25 ORDER BY practitioner_id`, d.practice)
	return getRequests(ids, func(id int64) string { return fmt.Sprintf("/v1/appointments?practitioner_id=%d", id) }), err
}

// somePages returns requests for pages, up to most.
func somePages(most int) (pages []int) {
	for page := max(1, most-9); page <= most; page++ {
		pages = append(pages, page)
	}
	return pages
}

func hundredPatients(context.Context, *dataset) ([]load.Request, error) {
	return getRequests(somePages(10), func(page int) string { return fmt.Sprintf("/v1/patients?per_page=100&page=%d", page) }), nil
}

// deepPage is pages 991 to 1000, or the last ten full ones of a smaller database.
func deepPage(ctx context.Context, d *dataset) ([]load.Request, error) {
	var rows int
	err := d.db.QueryRow(ctx, "SELECT count(*) FROM appointments WHERE practice_id = $1 AND cancelled_at IS NULL AND did_not_attend_at IS NULL", d.practice).Scan(&rows)
	return getRequests(somePages(min(1000, max(rows/25, 1))), func(page int) string { return fmt.Sprintf("/v1/appointments?page=%d", page) }), err
}

// availability requests a fortnight from tomorrow, or from any later week with bookings.
func availability(ctx context.Context, d *dataset) ([]load.Request, error) {
	ids, err := column[int64](ctx, d, "SELECT id FROM practitioners WHERE practice_id = $1 AND active ORDER BY id", d.practice)
	if err != nil {
		return nil, err
	}
	const weeks, perWeek, asked = 12, 20, 10
	random, first := fixedRandom(), time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Add(8*time.Hour)
	var requests []load.Request
	for i := range weeks * perWeek {
		start := first.AddDate(0, 0, 7*(i/perWeek))
		query := url.Values{"start_time": {start.Format(timestamp)}, "finish_time": {start.AddDate(0, 0, 14).Format(timestamp)}}
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		for _, id := range ids[:min(asked, len(ids))] {
			query.Add("practitioner_ids[]", fmt.Sprint(id))
		}
		requests = append(requests, load.Request{Method: "GET", Path: "/v1/appointments/availability?" + query.Encode()})
	}
	random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	return requests, nil
}

// recentlyUpdated requests the rows changed since a time with a hundred to a thousand later
// changes.
func recentlyUpdated(ctx context.Context, d *dataset) ([]load.Request, error) {
	times, err := column[time.Time](ctx, d, "SELECT updated_at FROM (SELECT updated_at FROM appointments WHERE practice_id = $1 ORDER BY updated_at DESC OFFSET 100 LIMIT 900) recent ORDER BY md5(updated_at::text) LIMIT 50", d.practice)
	return getRequests(times, func(t time.Time) string {
		return "/v1/appointments?updated_after=" + url.QueryEscape(t.UTC().Format(timestamp))
	}), err
}

// searches searches for patients by values from a query.
func searches(ctx context.Context, d *dataset, expression, where string, accept func(string) bool) ([]load.Request, error) {
	ids, err := d.randomIDs(ctx, "patients")
	if err != nil {
		return nil, err
	}
	texts, err := column[string](ctx, d, "SELECT "+expression+" FROM patients WHERE id = ANY($1) AND "+where+" ORDER BY md5(id::text)", ids)
	if err != nil {
		return nil, err
	}
	return searchesFor(texts, accept)
}

// searchesFor searches for patients by the texts that both servers support.
func searchesFor(texts []string, accept func(string) bool) ([]load.Request, error) {
	accepted := slices.DeleteFunc(texts, func(text string) bool { return !accept(text) })
	if len(accepted) == 0 {
		return nil, errors.New("no patient to search for")
	}
	return getRequests(accepted, func(text string) string { return "/v1/patients?query=" + url.QueryEscape(text) }), nil
}

// byName searches for names that only one patient has, so that responses are equally long
// at every size: at 10M appointments eleven patients share a name on average.
func byName(ctx context.Context, d *dataset) ([]load.Request, error) {
	names, err := column[string](ctx, d, `SELECT first_name || ' ' || last_name AS name FROM patients WHERE practice_id = $1
		GROUP BY first_name, last_name HAVING count(*) = 1 ORDER BY md5(first_name || last_name) LIMIT 5000`, d.practice)
	if err != nil {
		return nil, err
	}
	return searchesFor(names, isASCIIName)
}

// byPhone omits foreign numbers, which the hand-written server does not support, and
// incomplete ones: many numbers begin with "07700 1".
func byPhone(ctx context.Context, d *dataset) ([]load.Request, error) {
	return searches(ctx, d, "mobile_phone", "mobile_phone IS NOT NULL", func(number string) bool {
		digits := strings.ReplaceAll(number, " ", "")
		return len(digits) == len("07700900123") && strings.HasPrefix(digits, "07700") ||
			len(digits) == len("+447700900123") && strings.HasPrefix(digits, "+447700")
	})
}

func byEmail(ctx context.Context, d *dataset) ([]load.Request, error) {
	return searches(ctx, d, "email_address", "email_address IS NOT NULL", func(string) bool { return true })
}
