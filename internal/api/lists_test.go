package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"chairside/internal/test/harness"
	"chairside/schema"
)

// compareBy compares two records by a value of sort_by, as in behaviour.md: numbers and times
// by size, text by case-folded code points.
func compareBy(r resource, key string, a, b row) int {
	if r.path == "practitioners" && key == "last_name" {
		a, b = a["user"].(row), b["user"].(row)
	}
	switch kind := r.everyField(false)[key]; kind {
	case "int":
		return cmp.Compare(number(a[key]), number(b[key]))
	case "decimal":
		return cmp.Compare(hundredths(a[key]), hundredths(b[key]))
	case "datetime", "date":
		return instant(text(a[key])).Compare(instant(text(b[key])))
	default: // text, and UUIDs, which sort as text
		return cmp.Compare(schema.Fold(text(a[key])), schema.Fold(text(b[key])))
	}
}

func number(v any) int64 {
	n, _ := strconv.ParseInt(text(v), 10, 64)
	return n
}

// sorted returns rows in the order of key, then id.
func sorted(r resource, key string, rows []row) []row {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(compareBy(r, key, a, b), compareBy(r, "id", a, b)) })
	return rows
}

// everySort compares every order with one in Go; desc is asc reversed.
func everySort(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	for _, key := range r.everySort() {
		want := ids(sorted(r, key, rows))
		for _, direction := range []string{"", "asc", "desc"} {
			query := w.base(r)
			query.Set("sort_by", key)
			if direction != "" {
				query.Set("sort_direction", direction)
			}
			if direction == "desc" {
				slices.Reverse(want)
			}
			if got := ids(w.all(t, r.path, r.many, query)); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", query.Encode(), head(got), head(want))
			}
		}
	}
}

// defaultOrder: without sort_by, sort_direction applies to the default order.
func defaultOrder(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	want := ids(sorted(r, r.order, rows))
	if got := ids(rows); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", head(got), head(want))
	}
	slices.Reverse(want)
	query := w.base(r)
	query.Set("sort_direction", "desc")
	if got := ids(w.all(t, r.path, r.many, query)); !slices.Equal(got, want) {
		t.Errorf("backwards: got %v, want %v", head(got), head(want))
	}
}

// unknownSortNamesTheAllowedOnes: it is 400.
func unknownSortNamesTheAllowedOnes(t *testing.T, w *world, r resource) {
	query := w.base(r)
	query.Set("sort_by", "notes")
	res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Error(t, 400, "invalid_parameter", "sort_by")
	for _, key := range r.everySort() {
		if message := res.Text(t, "error.params.sort_by.0"); !slices.Contains(words(message), key) {
			t.Errorf("%q does not name %s", message, key)
		}
	}
}

// words returns the runs of letters, digits and underscores.
func words(s string) []string {
	var all []string
	word := ""
	for _, r := range s + " " {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			word += string(r)
			continue
		}
		if word != "" {
			all = append(all, word)
		}
		word = ""
	}
	return all
}

// pagesMakeUpTheList: pages of 7 contain the whole list.
func pagesMakeUpTheList(t *testing.T, w *world, r resource) {
	rows := w.rows(t, r)
	const size = 7
	pages := (len(rows) + size - 1) / size
	for page := 1; page <= pages+1; page++ {
		if page > 6 && page < pages-1 {
			continue // the first and the last pages are enough
		}
		query := w.base(r)
		query.Set("per_page", fmt.Sprint(size))
		query.Set("page", fmt.Sprint(page))
		res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
		want := ids(rows[min((page-1)*size, len(rows)):min(page*size, len(rows))])
		if got := res.Column(t, r.many, "id"); !slices.Equal(got, want) {
			t.Errorf("page %d: got %v, want %v", page, got, want)
		}
		for name, want := range map[string]int{"total": len(rows), "page": page, "current_page": page, "per_page": size, "total_pages": pages} {
			if got := res.At(t, "meta."+name); got != json.Number(fmt.Sprint(want)) {
				t.Errorf("page %d: %s is %v, want %d", page, name, got, want)
			}
		}
	}
}

// pageSizes: 25 by default, 100 at most.
func pageSizes(t *testing.T, w *world, r resource) {
	total := len(w.rows(t, r))
	for sent, want := range map[string]int{"": 25, "1": 1, "100": 100, "101": 100, "1000": 100, "99999999999999999999": 100} {
		query := w.base(r)
		if sent != "" {
			query.Set("per_page", sent)
		}
		res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
		if got := res.Text(t, "meta.per_page"); got != fmt.Sprint(want) || len(res.List(t, r.many)) != min(want, total) {
			t.Errorf("per_page=%s: %d rows of %d, meta %s, want %d", sent, len(res.List(t, r.many)), total, got, want)
		}
	}
}

// pagesBackwardsMakeUpTheList: in order of id, which skips earlier rows in its own way.
func pagesBackwardsMakeUpTheList(t *testing.T, w *world, r resource) {
	want := ids(sorted(r, "id", w.rows(t, r)))
	slices.Reverse(want)
	const size = 3
	for _, page := range []int{1, 2, 3, max((len(want)+size-1)/size, 1)} {
		query := w.base(r)
		query.Set("sort_by", "id")
		query.Set("sort_direction", "desc")
		query.Set("per_page", fmt.Sprint(size))
		query.Set("page", fmt.Sprint(page))
		res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
		want := want[min((page-1)*size, len(want)):min(page*size, len(want))]
		if got := res.Column(t, r.many, "id"); !slices.Equal(got, want) {
			t.Errorf("page %d: got %v, want %v", page, got, want)
		}
	}
}

// pagesPastTheEndAreEmpty: with the right total.
func pagesPastTheEndAreEmpty(t *testing.T, w *world, r resource) {
	total := len(w.rows(t, r))
	for _, page := range []string{"1000", "2147483648", "9223372036854775807", "99999999999999999999999"} {
		query := w.base(r)
		query.Set("page", page)
		res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
		if len(res.List(t, r.many)) != 0 || res.Text(t, "meta.total") != fmt.Sprint(total) {
			t.Errorf("page=%s: %s", page, res.Raw)
		}
	}
}

// pagesBelowOneAreRefused: so is anything but a whole number.
func pagesBelowOneAreRefused(t *testing.T, w *world, r resource) {
	for _, name := range []string{"page", "per_page"} {
		for _, value := range []string{"0", "-1", "", "1.5", "ten", "-99999999999999999999999"} {
			query := w.base(r)
			query.Set(name, value)
			w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Error(t, 400, "invalid_parameter", name)
		}
	}
}

// listsAreNeverNull: a list without matches is [].
func listsAreNeverNull(t *testing.T, w *world, r resource) {
	query := w.base(r)
	query.Set("updated_after", "2999-01-01")
	res := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
	if len(res.List(t, r.many)) != 0 || res.Text(t, "meta.total") != "0" || res.Text(t, "meta.total_pages") != "0" {
		t.Errorf("got %s", res.Raw)
	}
	if len(res.JSON) != 2 {
		t.Errorf("the list is wrapped in %s", res.Raw)
	}
}

// unknownParametersAreNamed: a header has them; with strict handling they are refused.
func unknownParametersAreNamed(t *testing.T, w *world, r resource) {
	query := w.base(r)
	known := w.Get(t, "/v1/"+r.path+"?"+query.Encode(), w.token).Status(t, 200)
	if got, sent := known.Header["X-Unknown-Parameters"]; sent {
		t.Errorf("X-Unknown-Parameters is %v", got)
	}
	for _, name := range []string{"zebra", "apple", "Page"} {
		query.Set(name, "1")
	}
	path := "/v1/" + r.path + "?" + query.Encode()
	res := w.Get(t, path, w.token).Status(t, 200)
	if got := res.Header.Get("X-Unknown-Parameters"); got != "Page, apple, zebra" || string(res.Raw) != string(known.Raw) {
		t.Errorf("X-Unknown-Parameters is %q", got)
	}
	for _, prefer := range []string{"handling=strict", "respond-async, Handling=Strict; foo"} {
		w.Do(t, harness.Request{Method: "GET", Path: path, Token: w.token, Header: map[string]string{"Prefer": prefer}}).
			Error(t, 400, "invalid_parameter", "Page", "apple", "zebra")
	}
	w.Do(t, harness.Request{Method: "GET", Path: path, Token: w.token, Header: map[string]string{"Prefer": "handling=lenient"}}).Status(t, 200)
}

// accessTokenIsKnownEverywhere: even with strict handling.
func accessTokenIsKnownEverywhere(t *testing.T, w *world, r resource) {
	query := url.Values{"access_token": {w.token}}
	for name, values := range w.base(r) {
		query[name] = values
	}
	res := w.Do(t, harness.Request{Method: "GET", Path: "/" + r.path + "?" + query.Encode(), Header: map[string]string{"Prefer": "handling=strict"}}).Status(t, 200)
	if res.Header.Get("X-Unknown-Parameters") != "" {
		t.Error("access_token is unknown")
	}
}

// metaHasWhatTheSpecificationNames: its members, for each list.
func metaHasWhatTheSpecificationNames(t *testing.T, w *world, r resource) {
	extra := map[string][]string{"accounts": {"total_nhs", "total_private", "total_balance"}, "payments": {"total_amount"}}
	meta := w.Get(t, "/v1/"+r.path+"?"+w.base(r).Encode(), w.token).Status(t, 200).At(t, "meta").(row)
	want := append([]string{"total", "page", "current_page", "per_page", "total_pages"}, extra[r.path]...)
	if len(meta) != len(want) {
		t.Errorf("meta is %v, want %v", meta, want)
	}
	for _, name := range want {
		kind := "int"
		if slices.Contains(extra[r.path], name) {
			kind = "decimal"
		}
		if !fits(w.Env, kind, meta[name]) {
			t.Errorf("%s is %#v, want %s", name, meta[name], kind)
		}
	}
}

// listsHaveEveryRow: also archived and deleted ones, compared with a count in SQL.
func listsHaveEveryRow(t *testing.T, w *world, r resource) {
	if r.required {
		return // a list of fees never has all fees
	}
	stored := systemRows(t, w.Env, "SELECT count(*) FROM "+r.path+" r JOIN practices p ON p.id = r.practice_id WHERE p.slug = 'demo'")
	if got := len(w.rows(t, r)); got != stored {
		t.Errorf("%d rows of %d", got, stored)
	}
}
