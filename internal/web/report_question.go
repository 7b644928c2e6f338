package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"chairside/internal/civil"
	"chairside/internal/clock"
	"chairside/internal/principal"
	"chairside/internal/report"
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
	form   form // the fields: from, to, site, practitioner
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
	for _, field := range []string{"from", "to", "site", "practitioner"} {
		if value := sent.Get(field); value != "" {
			q.form.values.Set(field, value)
		}
	}
	q.readPeriod()
	q.readSiteAndPractitioner()
	return q, nil
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
	case errors.Is(err, report.ErrPeriod):
		q.form.add("to", "The last day must not be before the first.")
	default:
		return false
	}
	return true
}

// address is the URL of the same report with a file ending, or of the page for "".
func (q *question) address(ending string) string {
	return reportsPath + "/" + q.report.Name + ending + "?" + q.form.values.Encode()
}
