package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
	"chairside/internal/report/render"
)

// The first and last day that a report accepts.
var (
	earliestDay = civil.MustParse("1900-01-01")
	latestDay   = civil.MustParse("2199-12-31")
)

// longestYears is the longest period, in years. Some reports query month by month.
const longestYears = 10

// question is the parsed query of a report page.
type question struct {
	report *report.Report
	filter report.Filter
	table  string // of a file in CSV, "" for the first
	form   form   // the fields: from, to, site, practitioner; and what links keep: sort, compare, rows, in
	today  civil.Date
}

// parseQuestion parses the query. Missing and empty fields mean the report's defaults.
func parseQuestion(r *http.Request, of *report.Report) (*question, error) {
	sent, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errMalformed
	}
	ctx := r.Context()
	q := &question{report: of, form: form{values: url.Values{}}, today: civil.Of(clock.Now(ctx).In(principal.Must(ctx).Zone))}
	for _, field := range []string{"from", "to", "site", "practitioner", "sort", "rows"} {
		if value := sent.Get(field); value != "" {
			q.form.values.Set(field, value)
		}
	}
	q.table = sent.Get("table")
	q.readPeriod()
	q.readSiteAndPractitioner()
	q.readView(sent)
	return q, nil
}

// readView parses what the page shows of the report: the order, a comparison, and the records
// behind a figure.
func (q *question) readView(sent url.Values) {
	q.filter.Sort = q.form.Value("sort")
	measure := q.form.Value("rows")
	if sent.Get("compare") != "" && measure == "" {
		q.filter.Compare = true
		q.form.values.Set("compare", "yes")
	}
	if measure == "" {
		return
	}
	q.filter.Behind = &report.Behind{Measure: measure}
	for _, condition := range sent["in"] {
		column, value, _ := strings.Cut(condition, ":")
		q.filter.Behind.Where = append(q.filter.Behind.Where, report.Condition{Column: column, Value: value})
		q.form.values.Add("in", condition)
	}
}

// readPeriod parses the days, and fills empty fields with the days that the report uses.
func (q *question) readPeriod() {
	if q.report.AsAt {
		q.form.values.Del("from")
	}
	from, to := q.report.Days(q.today, q.day("from"), q.day("to"))
	q.filter.From, q.filter.To = from, to
	switch {
	case len(q.form.wrong) > 0 || q.report.AsAt:
	case to.Before(from):
		q.addFilterError(report.ErrPeriod)
	case !from.IsZero() && from.AddMonths(12*longestYears).Before(to):
		q.form.add("from", "Choose at most "+strconv.Itoa(longestYears)+" years.")
	}
	q.fill("from", from)
	q.fill("to", to)
}

// fill sets an empty field to a day, unless the form does not have the field.
func (q *question) fill(field string, day civil.Date) {
	if !q.form.values.Has(field) && !day.IsZero() && (field == "to" || !q.report.AsAt) {
		q.form.values.Set(field, day.String())
	}
}

// day parses a field. It is zero if the field is empty or invalid.
func (q *question) day(field string) civil.Date {
	text := q.form.Value(field)
	if text == "" {
		return civil.Date{}
	}
	day, err := civil.Parse(text)
	switch {
	case err != nil:
		q.form.add(field, "Enter "+q.nameOf(field)+", for example "+q.today.String()+".")
	case day.Before(earliestDay) || latestDay.Before(day):
		q.form.add(field, "Choose "+q.nameOf(field)+" between "+strconv.Itoa(earliestDay.Year)+" and "+strconv.Itoa(latestDay.Year)+".")
	default:
		return day
	}
	return civil.Date{}
}

// nameOf is a date field's name in messages.
func (q *question) nameOf(field string) string {
	switch {
	case q.report.AsAt:
		return "the day"
	case field == "from":
		return "the first day"
	}
	return "the last day"
}

// readSiteAndPractitioner parses site and practitioner. The report checks that they exist.
func (q *question) readSiteAndPractitioner() {
	if text := q.form.Value("site"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			q.form.add("site", noSite)
		} else {
			q.filter.SiteID = &id
			q.form.values.Set("site", id.String())
		}
	}
	if text := q.form.Value("practitioner"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			q.form.add("practitioner", noPractitioner)
		} else {
			q.filter.PractitionerID = &id
			q.form.values.Set("practitioner", strconv.FormatInt(id, 10))
		}
	}
	if q.filter.PractitionerID != nil && !q.report.Practitioners {
		q.addFilterError(report.ErrNoPractitioners)
	}
}

const (
	noSite         = "Choose a site from the list."
	noPractitioner = "Choose a practitioner from the list."
)

// addFilterError adds the message for a filter that the report cannot use, and reports
// whether err is such an error.
func (q *question) addFilterError(err error) bool {
	switch {
	case errors.Is(err, report.ErrSite):
		q.form.add("site", noSite)
	case errors.Is(err, report.ErrPractitioner):
		q.form.add("practitioner", noPractitioner)
	case errors.Is(err, report.ErrNoPractitioners):
		q.form.add("", "This report cannot be limited to a practitioner.")
	case errors.Is(err, report.ErrSort):
		q.form.add("", "Sort by a column of a table. Its heading is the link.")
	case errors.Is(err, report.ErrCompare):
		q.form.add("", "Choose a first day to compare with the period before.")
	case errors.Is(err, report.ErrBehind):
		q.form.add("", "This report has no such figure. Open the records from a number in the report.")
	case errors.Is(err, report.ErrPeriod):
		q.form.add("to", "The last day must not be before the first.")
	default:
		return false
	}
	return true
}

// address is the URL of the same report with a file ending, or of the page for "". change
// changes the query.
func (q *question) address(ending string, change func(url.Values)) string {
	values := maps.Clone(q.form.values)
	change(values)
	return reportsPath + "/" + q.report.Name + ending + "?" + values.Encode()
}

// links returns the addresses that the page links to beside the tables.
func (q *question) links() *render.Links {
	return &render.Links{
		Sort:  func(column string) string { return q.address("", func(v url.Values) { v.Set("sort", column) }) },
		Table: func(key string) string { return q.address(".csv", func(v url.Values) { v.Set("table", key) }) },
		Behind: func(b report.Behind) string {
			return q.address("", func(v url.Values) {
				v.Del("sort") // of another table
				v.Del("compare")
				v.Set("rows", b.Measure)
				v.Del("in")
				for _, c := range b.Where {
					v.Add("in", c.Column+":"+c.Value)
				}
			})
		},
	}
}

// whole is the URL of the report whose records are listed.
func (q *question) whole() string {
	return q.address("", func(v url.Values) {
		for _, field := range []string{"sort", "rows", "in"} {
			v.Del(field)
		}
	})
}

// comparison is the URL of the page with a comparison, or without one if it has one. It is ""
// if the report cannot be compared.
func (q *question) comparison() string {
	if _, _, ok := q.report.PeriodBefore(q.filter.From, q.filter.To); !ok || q.filter.Behind != nil {
		return ""
	}
	return q.address("", func(v url.Values) {
		if q.filter.Compare {
			v.Del("compare")
		} else {
			v.Set("compare", "yes")
		}
	})
}
